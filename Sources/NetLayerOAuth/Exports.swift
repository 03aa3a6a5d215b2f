// `import NetLayerOAuth` also imports NetLayer, whose types its declarations mention.
@_exported public import NetLayer

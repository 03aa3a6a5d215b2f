// `import NetLayerInspector` also imports the modules that its declarations mention.
@_exported public import NetLayerRecording

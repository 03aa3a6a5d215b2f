// A test that stubs needs only `import NetLayerTesting`.
@_exported public import NetLayer

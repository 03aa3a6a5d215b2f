// `import NetLayer` also imports the modules that its declarations mention.
@_exported public import HTTPTransport
@_exported public import JSONText
@_exported public import Streams

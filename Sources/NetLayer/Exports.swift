// `import NetLayer` is enough to use what its signatures name.
@_exported public import HTTPTransport
@_exported public import JSONText
@_exported public import Streams

// `import HTTPTransport` also imports `HTTPDigest`, and the modules above use its files.
@_exported public import DurableFiles

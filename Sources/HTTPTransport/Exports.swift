// `import HTTPTransport` also imports `Hash`, and the modules above use its files.
@_exported public import DurableFiles

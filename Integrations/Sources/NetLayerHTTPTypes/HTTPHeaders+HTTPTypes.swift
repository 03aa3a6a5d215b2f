import HTTPTransport
import HTTPTypes

extension HTTPHeaders {
  /// Creates header fields from `fields`, with their order and the spelling of their names.
  public init(_ fields: HTTPFields) {
    self.init(fields.map { HTTPHeaders.Field(name: $0.name.rawName, value: $0.value) })
  }
}

extension HTTPFields {
  /// Creates fields from `headers` in their order. A field whose name is not a token (RFC 9110 §5.1) is omitted;
  /// transports neither send nor deliver such fields.
  public init(_ headers: HTTPHeaders) {
    self.init(
      headers.compactMap { field in
        HTTPField.Name(field.name).map { HTTPField(name: $0, value: field.value) }
      })
  }
}

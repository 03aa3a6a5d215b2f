import HTTPTransport
import HTTPTypes

extension HTTPHeaders {
  /// The header fields in their order, each with its name as it is spelled.
  public init(_ fields: HTTPFields) {
    self.init(fields.map { HTTPHeaders.Field(name: $0.name.rawName, value: $0.value) })
  }
}

extension HTTPFields {
  /// The header fields in their order. A field whose name is not a token (RFC 9110 §5.1) cannot be expressed and is left out;
  /// transports neither send nor deliver such a field.
  public init(_ headers: HTTPHeaders) {
    self.init(
      headers.compactMap { field in
        HTTPField.Name(field.name).map { HTTPField(name: $0, value: field.value) }
      })
  }
}

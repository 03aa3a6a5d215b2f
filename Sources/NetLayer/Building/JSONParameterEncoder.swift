import PortableFoundation

/// An encoder that writes parameters as a JSON body.
///
/// Names are sorted at every level, and numbers have the same text on every platform: `1.0` stays `1.0`. Bodies can
/// thus be signed and compared. `/` and non-ASCII characters are not escaped.
public struct JSONParameterEncoder: ParameterEncoder {
  /// The format of dates; deferred dates are numbers.
  public var dates: DateEncoding { didSet { isBackends = false } }
  /// The format of data; deferred data is an array.
  public var data: DataEncoding { didSet { isBackends = false } }
  /// The format of member names; the keys of dictionaries and `JSON` values are data and stay unchanged.
  public var keys: KeyEncoding { didSet { isBackends = false } }
  /// Whether the body is formatted for people to read, with line breaks and an indentation of two spaces.
  public var prettyPrinted: Bool { didSet { isBackends = false } }
  /// Whether the backend's `encoder` replaces this encoder.
  private(set) var isBackends = false

  /// Creates an encoder with Foundation's defaults.
  public init(
    dates: DateEncoding = .deferred, data: DataEncoding = .base64, keys: KeyEncoding = .asIs,
    prettyPrinted: Bool = false
  ) {
    self.dates = dates
    self.data = data
    self.keys = keys
    self.prettyPrinted = prettyPrinted
  }

  /// The backend's `encoder`, or an encoder with the defaults if there is no backend.
  static var backends: JSONParameterEncoder {
    var encoder = JSONParameterEncoder()
    encoder.isBackends = true
    return encoder
  }

  /// Sets the body, `{}` for no parameters.
  ///
  /// Common parameters become members of the object. If the caller's value is not an object but, for example, an array,
  /// common parameters go into the query.
  ///
  /// - Throws: `NetworkError` of kind `encoding`.
  public func encode(_ parameters: Parameters, into request: inout Request) throws {
    let encoder = ParameterValueEncoder(dates: dates, data: data, keys: keys)
    let (common, own) = parameters.split
    var value = try encoder.encode(own)
    if !common.isEmpty {
      if case .object = value {
        value = try encoder.encode(parameters)
      } else {
        try URLParameterEncoder(destination: .query, dates: dates, data: data, keys: keys)
          .encode(common, into: &request)
      }
    }
    var text = try Self.text(of: value)
    if prettyPrinted { text = try JSON(parsing: text).pretty() }
    request.body = .data(Data(text.utf8))
    if request.headers["Content-Type"] == nil { request.headers["Content-Type"] = "application/json" }
  }

  /// Returns the JSON text of `value` in one line.
  ///
  /// - Throws: `NetworkError` of kind `encoding`.
  func line(of value: any Sendable & Encodable) throws -> String {
    try Self.text(of: ParameterValueEncoder(dates: dates, data: data, keys: keys).encode(value))
  }

  private static func text(of value: ParameterValue) throws -> String {
    var text = ""
    try write(value, to: &text)
    return text
  }

  private static func write(_ value: ParameterValue, to text: inout String) throws {
    switch value {
    case .null: text += "null"
    case .bool(let flag): text += flag ? "true" : "false"
    case .number(let number): text += number
    case .string(let string): text += JSON.quoted(string)
    case .array(let elements):
      text += "["
      for (index, element) in elements.enumerated() {
        if index > 0 { text += "," }
        try write(element, to: &text)
      }
      text += "]"
    case .object(let members):
      text += "{"
      for (index, member) in members.enumerated() {
        if index > 0, member.name == members[index - 1].name {
          throw NetworkError(
            kind: .encoding,
            reason: "two parameters have the encoded name \(member.name.debugDescription); rename one")
        }
        if index > 0 { text += "," }
        text += JSON.quoted(member.name)
        text += ":"
        try write(member.value, to: &text)
      }
      text += "}"
    }
  }
}

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
    var value = try encoder.node(of: own)
    if !common.isEmpty {
      if value.isObject {
        value = try encoder.node(of: parameters)
      } else {
        try URLParameterEncoder(destination: .query, dates: dates, data: data, keys: keys)
          .encode(common, into: &request)
      }
    }
    let text = try value.json(keys: keys)
    request.body = .data(prettyPrinted ? Data(try JSON(parsing: Data(text)).pretty().utf8) : Data(text))
    if request.headers["Content-Type"] == nil { request.headers["Content-Type"] = "application/json" }
  }

  func line(of value: any Sendable & Encodable) throws -> String {
    String(
      decoding: try ParameterValueEncoder(dates: dates, data: data, keys: keys).node(of: value).json(keys: keys),
      as: UTF8.self)
  }
}

import PortableFoundation

/// Writes parameters as `name=value` pairs, into the query or as a form (article rows 0.7, 0.8, 2.9).
///
/// The defaults are Alamofire's, so that a server sees what it saw before. Names are sorted at every level: the same
/// parameters give the same text in every run and on every platform. All but RFC 3986's unreserved characters, `/` and `?`
/// are percent-encoded (see `unescaped`), `+` included, since form decoders read it as a space.
public struct URLParameterEncoder: ParameterEncoder {
  /// Where the pairs go.
  public enum Destination: Sendable {
    /// Into the query for GET, HEAD, DELETE and TRACE, else into the body.
    case methodDependent
    /// Into the query.
    case query
    /// Into the body, as `application/x-www-form-urlencoded`.
    case body
  }

  /// How the name of an array's element is written.
  public enum ArrayStyle: Sendable {
    /// `ids[]=1&ids[]=2`
    case brackets
    /// `ids=1&ids=2`
    case repeated
    /// `ids[0]=1&ids[1]=2`
    case indexed
    /// As the closure says, given name and index.
    case custom(@Sendable (String, Int) -> String)
  }

  /// How the name of an object's member is written.
  public enum ObjectStyle: Sendable {
    /// `user[name]=a`
    case brackets
    /// `user.name=a`
    case dots
  }

  /// How `true` and `false` are written.
  public enum BoolStyle: Sendable {
    /// `1` and `0`
    case numeric
    /// `true` and `false`
    case literal
  }

  /// How `nil` is written, that of optional members and of arrays' elements included.
  public enum NilStyle: Sendable {
    /// Not at all; elements behind it move up.
    case dropKey
    /// `a=`
    case empty
    /// `a=null`
    case null
  }

  /// How a space is written.
  public enum SpaceStyle: Sendable {
    /// `%20`, which every decoder understands.
    case percent
    /// `+`, which form decoders understand.
    case plus
  }

  /// Where the pairs go.
  public var destination: Destination
  /// The names of arrays' elements.
  public var arrays: ArrayStyle
  /// The names of objects' members.
  public var objects: ObjectStyle
  /// The text of booleans.
  public var bools: BoolStyle
  /// The text of dates.
  public var dates: DateEncoding
  /// The text of data.
  public var data: DataEncoding
  /// The names, before they are nested.
  public var keys: KeyEncoding
  /// The text of spaces.
  public var spaces: SpaceStyle
  /// The text of `nil`.
  public var nils: NilStyle
  /// The characters that stand as they are, besides letters, digits and `-._~`: `/?` by default, since a query may have
  /// them (RFC 3986 §3.4). What is not ASCII, and `&`, `=`, `#`, `%` and spaces are escaped all the same, since they would
  /// mean something else.
  public var unescaped: String

  /// An encoder with Alamofire's defaults where nothing else is given.
  public init(
    destination: Destination = .methodDependent, arrays: ArrayStyle = .brackets, objects: ObjectStyle = .brackets,
    bools: BoolStyle = .numeric, dates: DateEncoding = .deferred, data: DataEncoding = .base64,
    keys: KeyEncoding = .asIs, spaces: SpaceStyle = .percent, nils: NilStyle = .dropKey, unescaped: String = "/?"
  ) {
    self.destination = destination
    self.arrays = arrays
    self.objects = objects
    self.bools = bools
    self.dates = dates
    self.data = data
    self.keys = keys
    self.spaces = spaces
    self.nils = nils
    self.unescaped = unescaped
  }

  /// Adds the pairs behind a query that is there already, or as the body; without pairs, changes nothing.
  ///
  /// - Throws: `NetworkError` of kind `encoding`, also for parameters that have no names, such as an array's.
  public func encode(_ parameters: Parameters, into request: inout Request) throws {
    let text = try text(of: parameters)
    guard !text.isEmpty else { return }
    let inQuery =
      switch destination {
      case .methodDependent: request.method.putsParametersInURL
      case .query: true
      case .body: false
      }
    if inQuery {
      request.url = try request.url.appending(queryText: text)
    } else {
      request.body = .data(Data(text.utf8))
      if request.headers["Content-Type"] == nil {
        request.headers["Content-Type"] = "application/x-www-form-urlencoded; charset=utf-8"
      }
    }
  }

  /// The pairs as text, without a leading `?`.
  ///
  /// - Throws: `NetworkError` of kind `encoding`.
  public func text(of parameters: Parameters) throws -> String {
    try pairs(of: parameters).map { "\(escape($0.name))=\(escape($0.value))" }.joined(separator: "&")
  }

  /// The names and values, sorted and nested as the options say, before they are escaped.
  ///
  /// - Throws: `NetworkError` of kind `encoding`.
  public func pairs(of parameters: Parameters) throws -> [(name: String, value: String)] {
    let keepsNil = nils != .dropKey
    guard keepsNil || !parameters.isEmpty else { return [] }
    let encoder = ParameterValueEncoder(
      dates: dates, data: data, keys: keys, keepsNil: keepsNil, flattensSuper: true)
    let value = try encoder.encode(parameters)
    guard case .object(let members) = value else {
      throw NetworkError(
        kind: .encoding, reason: "parameters without names cannot be written as name=value pairs; send them as JSON")
    }
    var pairs: [(name: String, value: String)] = []
    for member in members { write(member.value, name: member.name, into: &pairs) }
    return pairs
  }

  private func write(_ value: ParameterValue, name: String, into pairs: inout [(name: String, value: String)]) {
    switch value {
    case .null:
      switch nils {
      case .dropKey: break
      case .empty: pairs.append((name, ""))
      case .null: pairs.append((name, "null"))
      }
    case .bool(let flag):
      let text =
        switch bools {
        case .numeric: flag ? "1" : "0"
        case .literal: flag ? "true" : "false"
        }
      pairs.append((name, text))
    case .number(let text), .string(let text):
      pairs.append((name, text))
    case .array(let elements):
      let kept = nils == .dropKey ? elements.filter { $0 != .null } : elements
      for (index, element) in kept.enumerated() {
        let elementName =
          switch arrays {
          case .brackets: name + "[]"
          case .repeated: name
          case .indexed: "\(name)[\(index)]"
          case .custom(let make): make(name, index)
          }
        write(element, name: elementName, into: &pairs)
      }
    case .object(let members):
      for member in members {
        let memberName =
          switch objects {
          case .brackets: "\(name)[\(member.name)]"
          case .dots: "\(name).\(member.name)"
          }
        write(member.value, name: memberName, into: &pairs)
      }
    }
  }

  private func escape(_ text: String) -> String {
    PercentEncoding.encode(text, keeping: keeps, space: spaces == .plus ? "+" : "%20")
  }

  private func keeps(_ byte: UInt8) -> Bool {
    if PercentEncoding.unreserved(byte) { return true }
    switch byte {
    case ...0x20, 0x7F..., UInt8(ascii: "&"), UInt8(ascii: "="), UInt8(ascii: "#"), UInt8(ascii: "%"): return false
    default: return unescaped.utf8.contains(byte)
    }
  }
}

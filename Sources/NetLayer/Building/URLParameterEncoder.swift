import PortableFoundation

/// An encoder that writes parameters as `name=value` pairs, in the query or as a form.
///
/// The defaults are Alamofire's, so that servers see the same names and values after a migration. Names are sorted at
/// every level: the same parameters result in the same text in every run and on every platform.
public struct URLParameterEncoder: ParameterEncoder {
  /// A destination of the pairs.
  public struct Destination: Sendable, Hashable {
    enum Kind { case methodDependent, query, body }

    let kind: Kind

    /// The query for GET, HEAD, DELETE and TRACE, else the body.
    public static let methodDependent = Destination(kind: .methodDependent)
    /// The query.
    public static let query = Destination(kind: .query)
    /// The body, as `application/x-www-form-urlencoded`.
    public static let body = Destination(kind: .body)
  }

  /// A format of the names of array elements.
  public struct ArrayStyle: Sendable {
    enum Kind: Sendable {
      case brackets, repeated, indexed
      case custom(@Sendable (String, Int) -> String)
    }

    let kind: Kind

    /// Brackets: `ids[]=1&ids[]=2`.
    public static let brackets = ArrayStyle(kind: .brackets)
    /// The repeated name: `ids=1&ids=2`.
    public static let repeated = ArrayStyle(kind: .repeated)
    /// Brackets with an index: `ids[0]=1&ids[1]=2`.
    public static let indexed = ArrayStyle(kind: .indexed)
    /// The name that the closure returns for a name and an index.
    public static func custom(_ name: @escaping @Sendable (String, Int) -> String) -> ArrayStyle {
      ArrayStyle(kind: .custom(name))
    }
  }

  /// A format of the names of object members.
  public struct ObjectStyle: Sendable, Hashable {
    enum Kind { case brackets, dots }

    let kind: Kind

    /// Brackets: `user[name]=a`.
    public static let brackets = ObjectStyle(kind: .brackets)
    /// Dots: `user.name=a`.
    public static let dots = ObjectStyle(kind: .dots)
  }

  /// A format of `true` and `false`.
  public struct BoolStyle: Sendable, Hashable {
    enum Kind { case numeric, literal }

    let kind: Kind

    /// Numbers: `1` and `0`.
    public static let numeric = BoolStyle(kind: .numeric)
    /// Words: `true` and `false`.
    public static let literal = BoolStyle(kind: .literal)
  }

  /// A format of `nil`, including optional members and array elements that are `nil`.
  public struct NilStyle: Sendable, Hashable {
    enum Kind { case dropKey, empty, null }

    let kind: Kind

    /// No pair; later array elements move up.
    public static let dropKey = NilStyle(kind: .dropKey)
    /// An empty value: `a=`.
    public static let empty = NilStyle(kind: .empty)
    /// The word null: `a=null`.
    public static let null = NilStyle(kind: .null)
  }

  /// A format of spaces.
  public struct SpaceStyle: Sendable, Hashable {
    enum Kind { case percent, plus }

    let kind: Kind

    /// `%20`, which every decoder understands.
    public static let percent = SpaceStyle(kind: .percent)
    /// `+`, which form decoders understand.
    public static let plus = SpaceStyle(kind: .plus)
  }

  /// The destination of the pairs.
  public var destination: Destination
  /// The format of the names of array elements.
  public var arrays: ArrayStyle { didSet { isBackends = false } }
  /// The format of the names of object members.
  public var objects: ObjectStyle { didSet { isBackends = false } }
  /// The format of booleans.
  public var bools: BoolStyle { didSet { isBackends = false } }
  /// The format of dates.
  public var dates: JSONParameterEncoder.DateEncoding { didSet { isBackends = false } }
  /// The format of data.
  public var data: JSONParameterEncoder.DataEncoding { didSet { isBackends = false } }
  /// The format of names, applied before nesting.
  public var keys: JSONParameterEncoder.KeyEncoding { didSet { isBackends = false } }
  /// The format of spaces.
  public var spaces: SpaceStyle { didSet { isBackends = false } }
  /// The format of `nil`.
  public var nils: NilStyle { didSet { isBackends = false } }
  /// The characters that are not escaped, in addition to letters, digits and `-._~`.
  ///
  /// The default is `/?`, which a query may contain (RFC 3986 §3.4). Non-ASCII characters, spaces and `&`, `=`, `#`,
  /// `%` are always escaped, because they would change the meaning of the query. A URL can't contain `[]{}|\^<>"` and the
  /// backtick: they stay unescaped in a form, and are escaped in a query.
  public var unescaped: String { didSet { isBackends = false } }
  /// Whether `keys` leaves the keys of dictionaries and `JSON` values unchanged, as in a JSON body.
  var keepsDataKeys = false
  /// Whether the backend's `queryEncoding` replaces all settings except `destination`.
  private(set) var isBackends = false

  /// Creates an encoder with Alamofire's defaults.
  public init(
    destination: Destination = .methodDependent, arrays: ArrayStyle = .brackets, objects: ObjectStyle = .brackets,
    bools: BoolStyle = .numeric, dates: JSONParameterEncoder.DateEncoding = .deferred,
    data: JSONParameterEncoder.DataEncoding = .base64,
    keys: JSONParameterEncoder.KeyEncoding = .asIs, spaces: SpaceStyle = .percent, nils: NilStyle = .dropKey,
    unescaped: String = "/?"
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

  /// The backend's `queryEncoding`, or an encoder with the defaults if there is no backend.
  static func backends(_ destination: Destination = .methodDependent) -> URLParameterEncoder {
    var encoder = URLParameterEncoder(destination: destination)
    encoder.isBackends = true
    return encoder
  }

  func writing(to destination: Destination) -> URLParameterEncoder {
    var encoder = self
    encoder.destination = destination
    return encoder
  }

  /// Adds the pairs to an existing query or sets them as the body. Without pairs, the request is unchanged.
  ///
  /// - Throws: `NetworkError` of kind `encoding`, including for parameters without names, such as an array.
  public func encode(_ parameters: Parameters, into request: inout Request) throws {
    let text = try text(of: parameters)
    guard !text.isEmpty else { return }
    let inQuery =
      switch destination.kind {
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

  /// Returns the pairs as text, without a leading `?`.
  package func text(of parameters: Parameters) throws -> String {
    var text = ""
    for (name, value) in try pairs(of: parameters) {
      if !text.isEmpty { text += "&" }
      text += escape(name)
      text += "="
      text += escape(value)
    }
    return text
  }

  /// Returns the names and values, sorted and nested according to the options, before they are escaped.
  func pairs(of parameters: Parameters) throws -> [(name: String, value: String)] {
    let keepsNil = nils != .dropKey
    guard keepsNil || !parameters.isEmpty else { return [] }
    let encoder = ParameterValueEncoder(
      dates: dates, data: data, keys: keys, keepsNil: keepsNil, keepsDataKeys: keepsDataKeys, flattensSuper: true)
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
      switch nils.kind {
      case .dropKey: break
      case .empty: pairs.append((name, ""))
      case .null: pairs.append((name, "null"))
      }
    case .bool(let flag):
      let text =
        switch bools.kind {
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
          switch arrays.kind {
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
          switch objects.kind {
          case .brackets: "\(name)[\(member.name)]"
          case .dots: "\(name).\(member.name)"
          }
        write(member.value, name: memberName, into: &pairs)
      }
    }
  }

  private func escape(_ text: String) -> String {
    PercentEncoding.encode(text, keeping: { keeps($0) }, space: spaces == .plus ? "+" : "%20")
  }

  private func keeps(_ byte: UInt8) -> Bool {
    if PercentEncoding.unreserved(byte) { return true }
    switch byte {
    case ...0x20, 0x7F..., UInt8(ascii: "&"), UInt8(ascii: "="), UInt8(ascii: "#"), UInt8(ascii: "%"): return false
    default: return unescaped.utf8.contains(byte)
    }
  }
}

import PortableFoundation

/// Header fields in order: names are looked up without case, duplicates are kept (RFC 9110 §5).
///
/// A dictionary's names are unique without case, too, and the last one counts; `append` and the initialiser that takes
/// fields keep duplicates. Names and values are checked when a request is sent: a value may have any character
/// but control characters, a tab excepted, and goes out in UTF-8. `==` compares fields as they are written.
public struct HTTPHeaders: Sendable, Hashable, ExpressibleByDictionaryLiteral, Sequence, CustomStringConvertible {
  /// One field as it was given or received.
  public struct Field: Sendable, Hashable {
    /// The name in its original spelling.
    public var name: String
    /// The value; spaces and tabs around it are taken off, since they are no part of it (RFC 9110 §5.5).
    public var value: String { didSet { value = Self.trimmed(value) } }

    /// A field of `name` and `value`.
    public init(name: String, value: String) {
      self.name = name
      self.value = Self.trimmed(value)
    }

    private static func trimmed(_ value: String) -> String {
      func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
      var rest = value.utf8[...]
      guard rest.first.map(isBlank) == true || rest.last.map(isBlank) == true else { return value }
      rest = rest.drop(while: isBlank)
      while let last = rest.last, isBlank(last) { rest.removeLast() }
      return String(Substring(rest))
    }
  }

  private enum Storage {
    case fields([Field])
    case received(ReceivedFields)
  }

  private var storage: Storage

  private var fields: [Field] {
    switch storage {
    case .fields(let fields): fields
    case .received(let received): received.fields
    }
  }

  /// No fields.
  public init() { self.init([Field]()) }

  /// The fields in the order given, duplicates included.
  public init(_ fields: [Field]) { storage = .fields(fields) }

  /// Those of an answer, read when they are first asked for.
  init(_ received: ReceivedFields) { storage = .received(received) }

  /// The fields of `dictionary`, sorted by name so that the order is the same in every run; of names that differ by case
  /// only, the last counts.
  public init(_ dictionary: [String: String]) {
    self.init()
    for (name, value) in dictionary.sorted(by: { $0.key < $1.key }) { self[name] = value }
  }

  /// The fields in the order written; of a name given twice, in whatever case, the last counts.
  public init(dictionaryLiteral elements: (String, String)...) {
    self.init()
    for (name, value) in elements { self[name] = value }
  }

  /// The value of `name`; duplicates are joined by ", " (RFC 9110 §5.3). Setting replaces all fields of that name,
  /// `nil` removes them.
  public subscript(name: String) -> String? {
    get {
      let all = values(of: name)
      return all.isEmpty ? nil : all.joined(separator: ", ")
    }
    set {
      change { fields in
        guard let newValue else { return fields.removeAll { Self.same($0.name, name) } }
        guard let first = fields.firstIndex(where: { Self.same($0.name, name) }) else {
          return fields.append(Field(name: name, value: newValue))
        }
        fields[first] = Field(name: name, value: newValue)
        var index = fields.count - 1
        while index > first {
          if Self.same(fields[index].name, name) { fields.remove(at: index) }
          index -= 1
        }
      }
    }
  }

  /// Changes the fields in place, without a copy where they are not shared.
  private mutating func change(_ body: (inout [Field]) -> Void) {
    var fields = self.fields
    storage = .fields([])
    body(&fields)
    storage = .fields(fields)
  }

  /// Every value of `name`, in order.
  public func values(of name: String) -> [String] {
    fields.compactMap { Self.same($0.name, name) ? $0.value : nil }
  }

  /// Adds a field behind those already there, duplicates included.
  public mutating func append(_ name: String, _ value: String) {
    change { $0.append(Field(name: name, value: value)) }
  }

  /// These fields with those of `other` replacing the ones of the same name.
  public func merging(_ other: HTTPHeaders) -> HTTPHeaders {
    let new = other.fields
    guard !new.isEmpty else { return self }
    return HTTPHeaders(fields.filter { field in !new.contains { Self.same($0.name, field.name) } } + new)
  }

  /// The number of fields, duplicates counted.
  public var count: Int { fields.count }

  /// Whether there are no fields.
  public var isEmpty: Bool { fields.isEmpty }

  /// The values by name, in the spelling that comes first; duplicates are joined by ", ".
  public var dictionary: [String: String] {
    var seen: Set<String> = []
    var result: [String: String] = [:]
    for field in fields where seen.insert(field.name.lowercased()).inserted { result[field.name] = self[field.name] }
    return result
  }

  /// The fields sorted by name without case; duplicates stay in their order.
  public func sorted() -> HTTPHeaders {
    let fields = fields
    // The library's sort is stable in fact, but does not promise it.
    let order = fields.enumerated().map { ($0.element.name.lowercased(), $0.offset) }.sorted { $0 < $1 }
    return HTTPHeaders(order.map { fields[$0.1] })
  }

  /// Iterates over the fields in order.
  public func makeIterator() -> IndexingIterator<[Field]> { fields.makeIterator() }

  /// One `name: value` a line, without secrets.
  public var description: String {
    Redaction.standard.headers(self).map { "\($0.name): \($0.value)" }.joined(separator: "\n")
  }

  /// Compares the fields in order, as they are written.
  public static func == (a: HTTPHeaders, b: HTTPHeaders) -> Bool { a.fields == b.fields }

  /// Takes in the fields.
  public func hash(into hasher: inout Hasher) { hasher.combine(fields) }

  /// Whether two field names are the same: ASCII letters compare without case (RFC 9110 §5.1).
  package static func same(_ a: String, _ b: String) -> Bool {
    let left = a.utf8
    let right = b.utf8
    guard left.count == right.count else { return false }
    return zip(left, right).allSatisfy { fold($0) == fold($1) }
  }

  private static func fold(_ byte: UInt8) -> UInt8 { byte >= 65 && byte <= 90 ? byte | 0x20 : byte }
}

extension HTTPHeaders {
  /// The value of `Authorization` for a user and a password, in UTF-8 (RFC 7617): `Basic dGVzdDp0ZXN0`.
  public static func basic(user: String, password: String) -> String {
    "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
  }

  /// The value of `Authorization` for a token (RFC 6750 §2.1): `Bearer abc`.
  public static func bearer(_ token: String) -> String { "Bearer " + token }
}

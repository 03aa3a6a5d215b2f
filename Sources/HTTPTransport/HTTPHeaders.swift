import PortableFoundation

/// An ordered list of header fields. Names are case-insensitive, and duplicates are kept (RFC 9110 §5).
///
/// If keys of a dictionary differ only in case, the last one is used. `append` and the initializer that takes fields
/// keep duplicates. A value may contain any characters except control characters other than tab, and is sent as UTF-8.
/// Transports check names and values when they send a request. `==` compares both exactly, including case.
public struct HTTPHeaders: Sendable, Hashable, ExpressibleByDictionaryLiteral, Sequence, CustomStringConvertible {
  /// One field, as it was set or received.
  public struct Field: Sendable, Hashable {
    /// The name in its original spelling.
    public var name: String
    /// The value, without leading and trailing spaces and tabs, which are not part of it (RFC 9110 §5.5).
    public var value: String { didSet { value = Self.trimmed(value) } }

    /// Creates a field with a name and a value.
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

  /// Creates an empty list.
  public init() { self.init([Field]()) }

  /// Creates a list of fields in the given order, duplicates included.
  public init(_ fields: [Field]) { storage = .fields(fields) }

  /// Creates the fields of a response, which are parsed on first access.
  init(_ received: ReceivedFields) { storage = .received(received) }

  /// Creates the fields of `dictionary`, sorted by name so that the order is the same in every run. If names differ
  /// only in case, the last one is used.
  public init(_ dictionary: [String: String]) {
    var fields: [Field] = []
    var places: [String: Int] = [:]
    for (name, value) in dictionary.sorted(by: { $0.key < $1.key }) {
      let field = Field(name: name, value: value)
      if let place = places[name.lowercased()] {
        fields[place] = field
      } else {
        places[name.lowercased()] = fields.count
        fields.append(field)
      }
    }
    self.init(fields)
  }

  /// Creates the fields of the literal in order. If a name occurs twice, regardless of case, the last value is used.
  public init(dictionaryLiteral elements: (String, String)...) {
    self.init()
    for (name, value) in elements { self[name] = value }
  }

  /// The value of the field `name`; the values of duplicates are joined by ", " (RFC 9110 §5.3). Setting a value
  /// replaces all fields of that name, and setting `nil` removes them.
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

  /// Changes the fields in place, without a copy if they are not shared.
  private mutating func change(_ body: (inout [Field]) -> Void) {
    var fields = self.fields
    storage = .fields([])
    body(&fields)
    storage = .fields(fields)
  }

  /// Returns all values of the field `name`, in order.
  public func values(of name: String) -> [String] {
    fields.compactMap { Self.same($0.name, name) ? $0.value : nil }
  }

  /// Appends a field and keeps existing fields of the same name.
  public mutating func append(_ name: String, _ value: String) {
    change { $0.append(Field(name: name, value: value)) }
  }

  /// Returns these fields and the fields of `other`, which replace fields of the same name.
  public func merging(_ other: HTTPHeaders) -> HTTPHeaders {
    let new = other.fields
    guard !new.isEmpty else { return self }
    // For the few fields of a request, a set costs more than it saves. A response may have many.
    guard new.count > 32 else {
      return HTTPHeaders(fields.filter { field in !new.contains { Self.same($0.name, field.name) } } + new)
    }
    let names = Set(new.map { $0.name.lowercased() })
    return HTTPHeaders(fields.filter { !names.contains($0.name.lowercased()) } + new)
  }

  /// The number of fields, duplicates included.
  public var count: Int { fields.count }

  /// Whether there are no fields.
  public var isEmpty: Bool { fields.isEmpty }

  /// Returns an iterator over the fields in order.
  public func makeIterator() -> IndexingIterator<[Field]> { fields.makeIterator() }

  /// The fields, one `name: value` per line, without secrets. Control characters are visible, as in `\u{1B}`.
  public var description: String {
    Redaction.standard.redacted(self).map { "\($0.name): \($0.value)".escapingControls() }.joined(separator: "\n")
  }

  /// Compares the fields in order, including case.
  public static func == (a: HTTPHeaders, b: HTTPHeaders) -> Bool { a.fields == b.fields }

  /// Hashes the fields.
  public func hash(into hasher: inout Hasher) { hasher.combine(fields) }

  /// Returns whether two field names are equal; the comparison ignores the case of ASCII letters (RFC 9110 §5.1).
  package static func same(_ a: String, _ b: String) -> Bool {
    let left = a.utf8
    let right = b.utf8
    guard left.count == right.count else { return false }
    return zip(left, right).allSatisfy { fold($0) == fold($1) }
  }

  private static func fold(_ byte: UInt8) -> UInt8 { byte >= 65 && byte <= 90 ? byte | 0x20 : byte }
}

extension HTTPHeaders {
  /// The credentials of a user and a password, as UTF-8 (RFC 7617): `Authorization: Basic dGVzdDp0ZXN0`.
  ///
  /// The user must not contain a colon: the server would read the rest of it as a part of the password.
  public static func basic(user: String, password: String) -> HTTPHeaders {
    ["Authorization": "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()]
  }

  /// The credentials of a token (RFC 6750 §2.1): `Authorization: Bearer abc`.
  public static func bearer(_ token: String) -> HTTPHeaders { ["Authorization": "Bearer " + token] }
}

/// Header fields in order: names compare without case, duplicates are kept (RFC 9110 §5).
public struct HTTPHeaders: Sendable, Hashable, ExpressibleByDictionaryLiteral, Sequence, CustomStringConvertible {
  /// One field as it was given or received.
  public struct Field: Sendable, Hashable {
    /// The name in its original spelling.
    public var name: String
    /// The value without surrounding white space.
    public var value: String

    /// A field of `name` and `value`.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  private var fields: [Field] = []

  /// No fields.
  public init() {}

  /// The fields in the order given.
  public init(_ fields: [Field]) { self.fields = fields }

  /// The fields of `dictionary`, sorted by name so that the order is the same in every run.
  public init(_ dictionary: [String: String]) {
    fields = dictionary.sorted { $0.key < $1.key }.map { Field(name: $0.key, value: $0.value) }
  }

  /// The fields in the order written; a name given twice is kept twice.
  public init(dictionaryLiteral elements: (String, String)...) {
    fields = elements.map { Field(name: $0.0, value: $0.1) }
  }

  /// The value of `name`; duplicates are joined by ", " (RFC 9110 §5.3). Setting replaces all fields of that name,
  /// `nil` removes them.
  public subscript(name: String) -> String? {
    get {
      let all = values(of: name)
      return all.isEmpty ? nil : all.joined(separator: ", ")
    }
    set {
      guard let newValue else {
        fields.removeAll { Self.same($0.name, name) }
        return
      }
      guard let first = fields.firstIndex(where: { Self.same($0.name, name) }) else {
        fields.append(Field(name: name, value: newValue))
        return
      }
      fields[first] = Field(name: name, value: newValue)
      var index = fields.count - 1
      while index > first {
        if Self.same(fields[index].name, name) { fields.remove(at: index) }
        index -= 1
      }
    }
  }

  /// Every value of `name`, in order.
  public func values(of name: String) -> [String] {
    fields.compactMap { Self.same($0.name, name) ? $0.value : nil }
  }

  /// Adds a field behind those already there, duplicates included.
  public mutating func append(_ name: String, _ value: String) { fields.append(Field(name: name, value: value)) }

  /// These fields with those of `other` replacing the ones of the same name.
  public func merging(_ other: HTTPHeaders) -> HTTPHeaders {
    guard !other.fields.isEmpty else { return self }
    var result = self
    result.fields.removeAll { field in other.fields.contains { Self.same($0.name, field.name) } }
    result.fields.append(contentsOf: other.fields)
    return result
  }

  /// The number of fields, duplicates counted.
  public var count: Int { fields.count }

  /// Iterates over the fields in order.
  public func makeIterator() -> IndexingIterator<[Field]> { fields.makeIterator() }

  /// One `name: value` a line, without secrets.
  public var description: String {
    Redaction.standard.headers(self).map { "\($0.name): \($0.value)" }.joined(separator: "\n")
  }

  /// Whether two field names are the same: ASCII letters compare without case (RFC 9110 §5.1).
  static func same(_ a: String, _ b: String) -> Bool {
    let left = a.utf8
    let right = b.utf8
    guard left.count == right.count else { return false }
    return zip(left, right).allSatisfy { fold($0) == fold($1) }
  }

  private static func fold(_ byte: UInt8) -> UInt8 { byte >= 65 && byte <= 90 ? byte | 0x20 : byte }
}

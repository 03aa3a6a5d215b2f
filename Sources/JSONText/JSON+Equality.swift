import PortableFoundation

extension JSON: Equatable {
  /// Returns whether both values are equal.
  ///
  /// Objects are compared regardless of order, strings by their characters, and numbers by their exact value: `1`,
  /// `1.0` and `10e-1` are equal, without rounding.
  public static func == (a: JSON, b: JSON) -> Bool {
    // The recursion is as deep as the common structure.
    LargeStack.run(depth: min(a.depthBound, b.depthBound)) { a.equals(b) }
  }

  private func equals(_ other: JSON) -> Bool {
    let kind = kind
    guard kind == other.kind else { return false }
    switch kind {
    case .missing, .null: return true
    case .bool: return bool == other.bool
    case .string:
      guard let string, let text = other.string else { return word?.kind == other.word?.kind && data == other.data }
      return JSONName(string) == JSONName(text)
    case .number: return number == other.number
    case .array:
      let (left, right) = (array ?? [], other.array ?? [])
      return left.count == right.count && zip(left, right).allSatisfy { $0.equals($1) }
    case .object:
      let left = namedMembers ?? []
      let right = Dictionary((other.namedMembers ?? []).map { ($0.name, $0.value) }) { first, _ in first }
      return left.count == right.count
        && left.allSatisfy { name, value in right[name].map { value.equals($0) } ?? false }
    }
  }

  /// The exact value of a number.
  ///
  /// The value is `nil` if this is not a number, or if it exceeds the 38 digits or the range of `Decimal`.
  public var decimal: Decimal? {
    if let converted = convertedNumber { return converted.decimal }
    guard let number, number.digits.count <= 38, (-128...127).contains(number.exponent) else { return nil }
    return Decimal(string: description, locale: Locale(identifier: "en_US_POSIX"))
  }

  /// Returns whether the shortest text of a finite `double` is the same number as this.
  func isExactly(_ double: Double) -> Bool {
    var text = double.description
    return text.withUTF8 { JSONNumber($0) } == number
  }

  private var number: JSONNumber? {
    guard let word, word.kind == .number else { return nil }
    return document.read { JSONNumber($0.bytes(word)) }
  }
}

import Foundation

extension JSON: Equatable {
  /// Whether both are the same value: objects without regard to order, strings by their characters, numbers by their exact
  /// value (`1`, `1.0` and `10e-1` are the same; no rounding).
  public static func == (a: JSON, b: JSON) -> Bool {
    let kind = a.kind
    guard kind == b.kind else { return false }
    switch kind {
    case .missing, .null: return true
    case .bool: return a.bool == b.bool
    case .string: return a.string.map { Array($0.utf8) } == b.string.map { Array($0.utf8) }
    case .number: return ExactNumber(a.description) == ExactNumber(b.description)
    case .array: return a.array == b.array
    case .object:
      let left = Dictionary((a.members ?? []).map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
      let right = Dictionary((b.members ?? []).map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
      return left == right
    }
  }

  /// The value of a number, exactly; `nil` for anything else, and for one that needs more than a `Decimal`'s 38 digits or
  /// range.
  public var decimal: Decimal? {
    guard kind == .number else { return nil }
    let number = ExactNumber(description)
    guard number.digits.count <= 38, (-128...127).contains(number.exponent) else { return nil }
    return Decimal(string: description, locale: Locale(identifier: "en_US_POSIX"))
  }
}

/// A number as its significant digits and a power of ten.
private struct ExactNumber: Equatable {
  var isNegative = false
  var digits: [UInt8] = []
  var exponent = 0

  /// Takes a valid JSON number.
  init(_ text: String) {
    var isFraction = false
    var bytes = text.utf8[...]
    if bytes.first == UInt8(ascii: "-") {
      isNegative = true
      bytes = bytes.dropFirst()
    }
    while let byte = bytes.popFirst() {
      switch byte {
      case UInt8(ascii: "."): isFraction = true
      case UInt8(ascii: "e"), UInt8(ascii: "E"):
        // An exponent beyond Int is beyond all comparison: such numbers are taken as alike.
        let text = String(Substring(bytes)).replacing("+", with: "")
        exponent = exponent &+ (Int(text) ?? (text.hasPrefix("-") ? .min / 2 : .max / 2))
        bytes = bytes[bytes.endIndex...]
      default:
        digits.append(byte)
        if isFraction { exponent -= 1 }
      }
    }
    while digits.last == UInt8(ascii: "0") {
      digits.removeLast()
      exponent = exponent &+ 1
    }
    digits = Array(digits.drop { $0 == UInt8(ascii: "0") })
    if digits.isEmpty { (isNegative, exponent) = (false, 0) }
  }
}

import PortableFoundation

enum Quantity {
  /// Returns a text such as `4.7 MB`; a megabyte is a million bytes.
  static func bytes(_ count: Double) -> String {
    var (value, unit) = (count, 0)
    while value >= 999.5, unit < Self.units.count - 1 { (value, unit) = (value / 1000, unit + 1) }
    return unit == 0 ? "\(Int(value)) B" : "\(fixed(value, digits: 1)) \(Self.units[unit])"
  }

  /// Returns a text such as `1:02:03` or `0:07`, rounded up to seconds.
  static func time(_ seconds: Double) -> String {
    // Limited to about ten years, so that the number fits an `Int`.
    let whole = Int(min(max(0, seconds.isFinite ? seconds : 0), 3e8).rounded(.up))
    let (hours, minutes) = (whole / 3600, whole / 60 % 60)
    func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return (hours > 0 ? "\(hours):\(padded(minutes))" : "\(minutes)") + ":\(padded(whole % 60))"
  }

  /// Returns `value` with `digits` decimal places, or its description if it would have more than 15 digits.
  static func fixed(_ value: Double, digits: Int) -> String {
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    let scaled = (value.magnitude * scale).rounded()
    guard scaled < 1e15 else { return "\(value)" }
    let text = "\(Int(scaled))"
    let padded = String(repeating: "0", count: max(0, digits + 1 - text.count)) + text
    let sign = value < 0 && scaled > 0 ? "-" : ""
    return sign + padded.dropLast(digits) + (digits > 0 ? "." + padded.suffix(digits) : "")
  }

  private static let units = ["B", "kB", "MB", "GB", "TB"]
}

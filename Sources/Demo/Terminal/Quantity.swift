import Foundation

/// Quantities as people read them.
enum Quantity {
  /// `4.7 MB`; a megabyte has a million bytes.
  static func bytes(_ count: Double) -> String {
    var (value, unit) = (count, 0)
    while value >= 999.5, unit < Self.units.count - 1 { (value, unit) = (value / 1000, unit + 1) }
    return unit == 0 ? "\(Int(value)) B" : String(format: "%.1f ", value) + Self.units[unit]
  }

  /// `1:02:03` or `0:07`.
  static func time(_ seconds: Double) -> String {
    // More than ten years is no time to wait for.
    let whole = Int(min(max(0, seconds.isFinite ? seconds : 0), 3e8).rounded(.up))
    let (hours, minutes) = (whole / 3600, whole / 60 % 60)
    return hours > 0
      ? String(format: "%d:%02d:%02d", hours, minutes, whole % 60) : String(format: "%d:%02d", minutes, whole % 60)
  }

  private static let units = ["B", "kB", "MB", "GB", "TB"]
}

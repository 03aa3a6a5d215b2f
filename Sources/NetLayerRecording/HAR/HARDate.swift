import JSONText
import PortableFoundation

/// The dates of an archive.
enum HARDate {
  /// Returns the date in UTC, with milliseconds.
  static func text(_ date: Date) -> String {
    // Half a millisecond more, because the format truncates. A date beyond the year 9999 has no format.
    let seconds = min(max(date.timeIntervalSince1970, 0), 253_402_300_799) + 0.000_5
    return Date.ISO8601FormatStyle(includingFractionalSeconds: true).format(Date(timeIntervalSince1970: seconds))
  }

  /// Returns the date of a text with up to nine decimal digits; one without a time zone is in UTC. Returns `nil` for any
  /// other text.
  static func date(_ text: String) -> Date? {
    guard text.utf8.count <= 64 else { return nil }
    return Date(iso8601: text) ?? Date(iso8601: text + "Z")
  }
}

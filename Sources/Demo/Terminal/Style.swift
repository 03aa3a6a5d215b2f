import PortableFoundation

/// The text styles of a terminal; plain text if colors are disabled (`NO_COLOR`, https://no-color.org).
struct Style: Sendable {
  private let isOn: Bool

  init(descriptor: Int32) {
    let environment = ProcessInfo.processInfo.environment
    isOn = isatty(descriptor) == 1 && (environment["NO_COLOR"] ?? "").isEmpty && !Self.isDumb
  }

  /// Whether the terminal does not support escape codes.
  static var isDumb: Bool { ProcessInfo.processInfo.environment["TERM"] == "dumb" }

  func bold(_ text: String) -> String { code(1, text) }
  func dim(_ text: String) -> String { code(2, text) }
  func red(_ text: String) -> String { code(31, text) }
  func green(_ text: String) -> String { code(32, text) }
  func yellow(_ text: String) -> String { code(33, text) }
  func cyan(_ text: String) -> String { code(36, text) }

  private func code(_ number: Int, _ text: String) -> String { isOn ? "\u{1B}[\(number)m\(text)\u{1B}[0m" : text }
}

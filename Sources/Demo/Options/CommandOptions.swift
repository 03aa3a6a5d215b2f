import NetLayer
import PortableFoundation

/// The options of a subcommand, read from its command line.
protocol CommandOptions: Sendable {
  init()
  var request: RequestOptions { get set }
  mutating func take(word: String) throws
  /// Reads the option `name`, and returns `false` if the command does not have it.
  mutating func take(_ name: String, _ arguments: inout Arguments) throws -> Bool
  /// Checks that nothing is missing.
  func validate() throws
}

extension CommandOptions {
  /// Reads a command line; `nil` if it contains `--help`.
  ///
  /// - Throws: `UsageError` with the invalid value.
  init?(_ line: [String]) throws {
    self.init()
    var arguments = Arguments(line)
    while let item = arguments.next() {
      switch item {
      case .word(let word): try take(word: word)
      case .option(let name):
        if try !take(name, &arguments), try !request.take(name, &arguments) {
          throw UsageError("unknown option \(name); see --help")
        }
      }
      if request.help { return nil }
    }
    try validate()
  }
}

/// The options of a command that sends no requests for the user, so that most request options do not apply.
protocol PlainOptions: CommandOptions {
  /// The command in the message about its arguments.
  static var name: String { get }
}

extension PlainOptions {
  mutating func take(word: String) throws {
    throw UsageError("\(Self.name) takes no arguments, but got \(word.debugDescription)")
  }

  mutating func take(_ name: String, _ arguments: inout Arguments) throws -> Bool { try takePlain(name) }

  /// Leaves the options that every command has to the others.
  func takePlain(_ name: String) throws -> Bool {
    guard ["-h", "--help", "--json"].contains(name) else { throw UsageError("unknown option \(name); see --help") }
    return false
  }

  func validate() {}
}

/// The options of a command for one URL.
protocol URLOptions: CommandOptions {
  var url: URL? { get set }
}

extension URLOptions {
  mutating func take(word: String) throws {
    if let url { throw UsageError("pass only one URL, not \(url.absoluteString) and \(word)") }
    url = try Target.url(word)
  }

  func validate() throws { _ = try target() }

  /// Returns the call of the URL.
  ///
  /// - Throws: `UsageError` if there is no URL.
  func target() throws -> Call<Response> {
    guard let url else { throw UsageError("no URL given: pass an http:// or https:// URL") }
    return .get(url)
  }
}

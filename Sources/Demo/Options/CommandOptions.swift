import NetLayer
import PortableFoundation

/// What a command line of a subcommand asks for.
protocol CommandOptions: Sendable {
  init()
  var request: RequestOptions { get set }
  mutating func take(word: String) throws
  /// Takes the option `name`, if it is one of the command's own.
  mutating func take(_ name: String, _ arguments: inout Arguments) throws -> Bool
  /// Whether all is there.
  func validate() throws
}

extension CommandOptions {
  /// Reads a command line; `nil` if it asks for help.
  ///
  /// - Throws: `UsageError` that names the value at fault.
  init?(_ line: [String]) throws {
    self.init()
    var arguments = Arguments(line)
    while let item = arguments.next() {
      switch item {
      case .word(let word): try take(word: word)
      case .option(let name):
        if try !take(name, &arguments), try !request.take(name, &arguments) {
          throw UsageError("unknown option \(name): see --help")
        }
      }
      if request.help { return nil }
    }
    try validate()
  }
}

/// The options of a command for one URL.
protocol URLOptions: CommandOptions {
  var url: URL? { get set }
}

extension URLOptions {
  mutating func take(word: String) throws {
    if let url { throw UsageError("one URL is enough: got \(url.absoluteString) and \(word)") }
    url = try Target.url(word)
  }

  func validate() throws { _ = try target() }

  /// - Throws: `UsageError` where no URL was given.
  func target() throws -> Call {
    guard let url else { throw UsageError("no URL given: name one, http://… or https://…") }
    return .get(url)
  }
}

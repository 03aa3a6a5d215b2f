import Foundation

/// The subcommands.
enum Command {
  static let help = """
    usage: Demo                     a tour of NetLayer on a loopback server
           Demo get URL…            fetch URLs, one line of JSON per result (Demo get --help)
           Demo serve               run the tour's server until interrupted; prints its URL
    """

  /// Runs a command line, without the program's name; gives the exit code.
  static func run(_ arguments: [String]) -> Int32 {
    let console = Console()
    switch arguments.first {
    case nil:
      return Tour.run(console)
    case "get":
      return GetCommand.run(Array(arguments.dropFirst()), console)
    case "serve":
      return ServeCommand.run(Array(arguments.dropFirst()), console)
    case "help", "--help", "-h":
      return console.print(help) ? 0 : 1
    case let other?:
      console.complain("unknown command \(other.debugDescription): use get or serve, or nothing for the tour")
      return 2
    }
  }
}

/// A command line that cannot be carried out; the message names the value.
struct UsageError: Error {
  var message: String

  init(_ message: String) { self.message = message }
}

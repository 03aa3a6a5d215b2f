import Foundation

/// The command line.
struct Options {
  static let usage = """
    options: --only NAMES   rows, separated by commas: 1, 64, 256 (in pending), late (a server
                            that takes its time), decode, memory, allocations, download, http2, loops,
                            or a client's name
             --json FILE    writes the rows there, too
             --rounds N     takes medians of so many (5)
             --seconds S    how long each client runs in each round (1)
    """

  var only: Set<String> = []
  var file: String?
  var rounds = 5
  var seconds = 1.0

  static let inFlight = [1, 64, 256]

  init(_ arguments: [String]) {
    var arguments = arguments[...]
    while let option = arguments.popFirst() {
      guard let value = arguments.popFirst() else { Self.refuse("\(option) needs a value") }
      switch option {
      case "--only": only = Set(value.split(separator: ",").map(String.init))
      case "--json": file = value
      case "--rounds":
        guard let number = Int(value), number > 0 else { Self.refuse("--rounds takes a number, not \(value)") }
        rounds = number
      case "--seconds":
        guard let number = Double(value), number > 0 else { Self.refuse("--seconds takes seconds, not \(value)") }
        seconds = number
      default: Self.refuse("unknown option \(option)")
      }
    }
  }

  /// Whether a row with these names was asked for: each kind of name restricts only if one of it was given.
  func wants(inFlight count: Int, client: String, among clients: [String]) -> Bool {
    let numbers = only.intersection(Self.inFlight.map(String.init))
    let names = only.intersection(clients)
    if numbers.isEmpty && names.isEmpty { return only.isEmpty }
    return (numbers.isEmpty || numbers.contains("\(count)")) && (names.isEmpty || names.contains(client))
  }

  func wants(_ name: String) -> Bool { only.isEmpty || only.contains(name) }

  private static func refuse(_ reason: String) -> Never {
    FileHandle.standardError.write(Data("\(reason)\n\(usage)\n".utf8))
    exit(2)
  }
}

/// Prints a line at once, also into a pipe.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

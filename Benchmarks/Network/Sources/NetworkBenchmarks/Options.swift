import Foundation

/// The command-line options.
struct Options {
  static let usage = """
    options: --only NAMES   rows, separated by commas: 1, 64, 256 (requests in flight), https, http2,
                            handshakes, late (servers that respond late), decode, memory, allocations,
                            download, loops, or the name of a client; also connections (the limit of
                            connections per host, and the programs that NETLAYER_PEERS names), which
                            is not a default, or only awaited (the memory of calls that tasks await)
             --json FILE    also writes the rows to FILE
             --rounds N     number of rounds for the medians (default 5)
             --seconds S    time per client and round (default 1)
    """

  var only: Set<String> = []
  var file: String?
  var rounds = 5
  var seconds = 1.0

  static let inFlight = [1, 64, 256]

  init(_ arguments: [String]) {
    var arguments = arguments[...]
    while let option = arguments.popFirst() {
      guard let value = arguments.popFirst() else { Self.refuse("\(option) requires a value") }
      switch option {
      case "--only": only = Set(value.split(separator: ",").map(String.init))
      case "--json": file = value
      case "--rounds":
        guard let number = Int(value), number > 0 else {
          Self.refuse("invalid value '\(value)' of --rounds: pass a number above 0")
        }
        rounds = number
      case "--seconds":
        guard let number = Double(value), number > 0 else {
          Self.refuse("invalid value '\(value)' of --seconds: pass a number above 0")
        }
        seconds = number
      default: Self.refuse("unknown option '\(option)'")
      }
    }
  }

  /// Returns whether a row with this number and this client is selected. Each kind of name restricts the rows only if
  /// at least one name of that kind was given.
  func wants(inFlight count: Int, client: String, among clients: [String]) -> Bool {
    let numbers = only.intersection(Self.inFlight.map(String.init))
    let names = only.intersection(clients)
    if numbers.isEmpty && names.isEmpty { return only.isEmpty }
    // A client's name restricts the rows over TLS, if they are selected.
    if numbers.isEmpty && !only.isDisjoint(with: ["https", "http2"]) { return false }
    return (numbers.isEmpty || numbers.contains("\(count)")) && (names.isEmpty || names.contains(client))
  }

  func wants(_ name: String) -> Bool { only.isEmpty || only.contains(name) }

  private static func refuse(_ reason: String) -> Never {
    FileHandle.standardError.write(Data("\(reason)\n\(usage)\n".utf8))
    exit(2)
  }
}

/// Prints a line without buffering, also to a pipe.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

import Foundation

/// Checks that the transport stays stable under load. See Tests/Reliability/README.md.
///
/// `NetworkSoak [REQUESTS]` starts itself a second time as the server (`NetworkSoak serve`), and exits with 1 if a
/// check fails. `NetworkSoak sessions SECONDS` and `NetworkSoak outbox SECONDS` are parts of Tests/Reliability/soak, which watches
/// their memory and descriptors.
let arguments = Array(CommandLine.arguments.dropFirst())
#if os(Linux)
  if arguments.first == "serve" {
    try Server.run()
  } else if arguments.count == 2, let seconds = Int(arguments[1]), ["sessions", "outbox"].contains(arguments[0]) {
    let server = try ServerProcess()
    let isGood =
      arguments[0] == "sessions"
      ? try await Sessions(server: server.url, count: 1000).run(seconds: seconds)
      : try await Outboxes(server: server.url).run(seconds: seconds)
    server.stop()
    exit(isGood ? 0 : 1)
  } else {
    guard let requests = arguments.isEmpty ? 100_000 : arguments.first.flatMap({ Int($0) }), requests > 0 else {
      say("usage: NetworkSoak [REQUESTS] | sessions SECONDS | outbox SECONDS")
      exit(2)
    }
    let server = try ServerProcess()
    var isGood = try Soak(server: server.url).run(requests)
    isGood = try Crowd(server: server.url).run(10_000) && isGood
    server.stop()
    exit(isGood ? 0 : 1)
  }
#else
  say("NetworkSoak runs only on Linux, because it reads /proc")
#endif

/// Prints a line without buffering, also to a pipe.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

import NetLayer
import PortableFoundation

enum Command {
  static let help = """
    usage: Demo [tour]              a tour of NetLayer on a loopback server; --inspect shows its calls in a browser
           Demo get URL…            fetch URLs, one line of JSON per result
           Demo pages URL           follow a list's cursor from page to page
           Demo download URL        download into a file; resumes an interrupted download
           Demo events URL          print server-sent events as they arrive
           Demo inspect FILE        show a HAR file in a browser: timing, fields, bodies of each call
           Demo bench URL           measure requests per second, latencies, and CPU time per request
           Demo serve               start a server to try the other commands with; prints its URL

    Each command has --help, with examples, and --json, for scripts. --version prints the versions of NetLayer and libcurl.
    """

  /// The version of the package: the newest release in the changelog, or the next one.
  private static let version: String = {
    var version = "NetLayer 0.1.0"
    #if os(Linux)
      if let curl = CurlTransport.capabilities {
        version += " libcurl/\(curl.version)" + (curl.tls.map { " \($0)" } ?? "")
      }
    #endif
    return version
  }()

  /// Runs a command line without the program's name, and returns the exit code.
  static func run(_ arguments: [String]) -> Int32 {
    let console = Console()
    return console.exitCode(run(arguments, console))
  }

  private static func run(_ arguments: [String], _ console: Console) -> Int32 {
    let rest = Array(arguments.dropFirst())
    switch arguments.first {
    case nil: return Tour.run(console)
    case "--json", "--inspect": return tour(arguments, console)
    case "tour": return tour(rest, console)
    case "get": return run(GetOptions.self, rest, GetCommand.help, console) { try GetCommand.run($0, console) }
    case "pages": return run(PagesOptions.self, rest, PagesCommand.help, console) { try PagesCommand.run($0, console) }
    case "download":
      return run(DownloadOptions.self, rest, DownloadCommand.help, console) { try DownloadCommand.run($0, console) }
    case "events":
      return run(EventsOptions.self, rest, EventsCommand.help, console) { try EventsCommand.run($0, console) }
    case "inspect":
      return run(InspectOptions.self, rest, InspectCommand.help, console) { try InspectCommand.run($0, console) }
    case "bench": return run(BenchOptions.self, rest, BenchCommand.help, console) { try BenchCommand.run($0, console) }
    case "serve": return run(ServeOptions.self, rest, ServeCommand.help, console) { try ServeCommand.run($0, console) }
    case "--version", "-V":
      console.print(version)
      return 0
    case "help", "--help", "-h":
      if let command = rest.first, !command.hasPrefix("-") { return run([command, "--help"], console) }
      console.print(help)
      return 0
    case let other?:
      console.complain(
        "unknown command \(other.debugDescription): use get, pages, download, events, inspect, bench or serve, "
          + "or no command for the tour")
      return 2
    }
  }

  private static func tour(_ arguments: [String], _ console: Console) -> Int32 {
    run(TourOptions.self, arguments, Tour.help, console) { Tour.run(console, json: $0.json, inspects: $0.inspects) }
  }

  private static func run<Options: CommandOptions>(
    _: Options.Type, _ arguments: [String], _ help: String, _ console: Console, _ body: (Options) throws -> Int32
  ) -> Int32 {
    do {
      guard let options = try Options(arguments) else {
        console.print(help)
        return 0
      }
      return try body(options)
    } catch let error as UsageError {
      console.complain(error.message)
    } catch {
      console.complain(Problem(error).text)
    }
    return 2
  }
}

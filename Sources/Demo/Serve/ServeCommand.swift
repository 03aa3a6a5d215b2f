import Dispatch
import PortableFoundation

struct ServeOptions: PlainOptions {
  static let name = "serve"
  var request = RequestOptions()
}

/// `Demo serve`: starts a server for trying the other commands and other programs.
enum ServeCommand {
  static let help = """
    usage: Demo serve [--json]

    Serves on 127.0.0.1, on a port that the system chooses, until it is interrupted. The first line is the URL of the
    server, followed by commands to try. With --json, prints one line: url. Requests for other hosts are rejected with
    status 421.
    """

  static func run(_ options: ServeOptions, _ console: Console) throws -> Int32 {
    let server = try TourServer.start(adding: PlayRoutes.add)
    let url = server.url.absoluteString
    if options.request.json {
      console.print(JSONLine().adding("url", url).text)
    } else {
      let commands = [
        "curl \(url)/feed", "Demo get '\(url)/user/detail.do?userid=1' --at data.name", "Demo pages \(url)/feed",
        "Demo get -i -d '{\"name\":\"engine\"}' \(url)/api/repos", "Demo pages --by link \(url)/api/repos",
        "Demo pages --by cursor=meta.next,after --at items \(url)/api/events",
        "Demo download \(url)/file -o file.bin", "Demo events \(url)/events", "Demo bench \(url)/cart",
      ]
      let lines = commands.map { $0.hasPrefix("Demo") ? "  swift run \($0)" : "  \($0)" }
      console.print(([console.style.bold(url)] + lines).joined(separator: "\n"))
    }
    let interrupted = DispatchSemaphore(value: 0)
    Interrupt.handle { interrupted.signal() }
    interrupted.wait()
    server.stop()
    return 0
  }
}

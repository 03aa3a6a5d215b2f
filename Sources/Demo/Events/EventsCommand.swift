import NetLayer
import PortableFoundation
import Streams

struct EventsOptions: URLOptions {
  var request = RequestOptions()
  var url: URL?
  var limit = Int.max
  var lastID = ""

  mutating func take(_ name: String, _ arguments: inout Arguments) throws -> Bool {
    switch name {
    case "-n", "--limit": limit = try arguments.number(in: 1...1_000_000)
    case "--last-event-id": lastID = try arguments.value()
    default: return false
    }
    return true
  }
}

/// `Demo events`: prints server-sent events as they arrive.
enum EventsCommand {
  static let help = """
    usage: Demo events [options] URL

    Prints server-sent events as they arrive. Reconnects with Last-Event-ID when the connection ends, and fails after
    six consecutive attempts without an event. With --json, prints each event as a line: id, event, data.

      -n, --limit N         stop after N events
      --last-event-id ID    start after this event
    \(RequestOptions.help)

    Examples, with the URL that `Demo serve` prints:
      Demo events http://127.0.0.1:PORT/events
      Demo events http://127.0.0.1:PORT/events -n 3 --last-event-id 40 --json

    Exit code: 0 if the server has no further events (204) or at the limit, 1 on error, 2 for a usage error,
    130 on interrupt.
    """

  static func run(_ options: EventsOptions, _ console: Console) throws -> Int32 {
    let network = try options.request.network(console)
    var target = try options.target()
    if options.request.curl {
      target.headers = ["Accept": "text/event-stream"]
      if !options.lastID.isEmpty { target.headers["Last-Event-ID"] = options.lastID }
      return DryRun.run(target, network, console)
    }
    let reconnect = RetryPolicy(attempts: 6, initialDelay: .seconds(2))
    // A POST is not repeated, because the server may process it twice.
    let repeats = target.method != .post && target.method != .patch
    let events = network.events(target, lastEventID: options.lastID, reconnect: repeats ? reconnect : nil) { error, _ in
      if let error { console.complain("\(Problem(error).text); reconnecting") }
    }
    let ending = events.take(options.limit).wait { console.print(text(of: $0, options, console.style)) }
    return console.finish(ending, json: options.request.json)
  }

  private static func text(of event: ServerSentEvent, _ options: EventsOptions, _ style: Style) -> String {
    if options.request.json {
      return JSONLine().adding("id", event.id).adding("event", event.event).adding("data", event.data).text
    }
    let id = event.id.isEmpty ? "" : style.dim(" #\(event.id.escapingControls())")
    let lines = event.data.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
    return style.bold(event.event.escapingControls()) + id + "  "
      + lines.map { String($0).escapingControls(except: "\t") }.joined(separator: "\n  ")
  }
}

import Foundation
import NetLayer
import Streams

struct PagesOptions: URLOptions {
  var request = RequestOptions()
  var url: URL?
  var envelope = Envelope()
  var limit = Int.max

  mutating func take(_ name: String, _ arguments: inout Arguments) throws -> Bool {
    switch name {
    case "--envelope": envelope = try Envelope(commandLine: try arguments.value())
    case "-n", "--limit": limit = try arguments.number(in: 1...1_000_000)
    default: return false
    }
    return true
  }
}

/// `Demo pages`: a list with a cursor as one stream of pages.
enum PagesCommand {
  static let help = """
    usage: Demo pages [options] URL

    Follows a list's cursor from page to page and prints each item as a line of JSON, as pages arrive. Stops, with an error,
    when a cursor comes a second time. With --json a line is a page: page, items, cursor.

      -n, --limit N         at most N pages
      --envelope CODE,MESSAGE,DATA[,CURSOR]
                            how the list is wrapped (code,message,data,cursor), and so what the query's cursor is called
    \(RequestOptions.help)

    Examples, with the URL that `Demo serve` prints:
      Demo pages http://127.0.0.1:PORT/feed
      Demo pages http://127.0.0.1:PORT/feed -n 2 --json

    Exit code: 0, 1 if a page failed, 2 for bad usage, 130 on interrupt.
    """

  static func run(_ options: PagesOptions, _ console: Console) throws -> Int32 {
    let network = try options.request.network(envelope: options.envelope, console)
    let target = try options.target()
    if options.request.curl { return DryRun.run(target, network, console) }
    // The stream's thread counts, main reads when it has ended.
    let count = Locked(0)
    let ending = Observable<Page<JSON>>.pages(startingAt: nil) { cursor in
      // Not list(JSON.self): what is printed is to have its members in the server's order.
      network.json(try endpoint(target, at: cursor, options)).map { try page($0, options.envelope) }
    }
    .take(options.limit)
    .wait { page in
      let number = count.withLock { count in
        count += 1
        return count
      }
      return console.write(Data(text(of: page, number, options, console.style).utf8))
    }
    return console.finish(ending, json: options.request.json)
  }

  private static func endpoint(_ target: Target, at cursor: String?, _ options: PagesOptions) throws -> Target {
    guard let cursor, let url = target.baseURL else { return target }
    guard let next = url.replacingQueryItem(options.envelope.cursor, with: cursor) else {
      throw UsageError("the cursor \(cursor.debugDescription) does not fit into \(url.absoluteString)")
    }
    return Target(next)
  }

  private static func page(_ json: JSON, _ envelope: Envelope) throws -> Page<JSON> {
    guard let items = json[envelope.data].array else {
      throw NetworkError(kind: .parse, reason: "there is no list at \(envelope.data.debugDescription)")
    }
    return Page(items: items, cursor: Reading.cursor(json[envelope.cursor]))
  }

  private static func text(
    of page: Page<JSON>, _ number: Int, _ options: PagesOptions, _ style: Style
  ) -> String {
    let items = page.items.map { String(decoding: Reading.compact($0.data), as: UTF8.self) }
    if options.request.json {
      return JSONLine().adding("page", number).adding("items", json: "[\(items.joined(separator: ","))]")
        .adding("cursor", page.cursor).text + "\n"
    }
    let next = page.cursor.map { "next cursor \($0)" } ?? "the last"
    return ([style.dim("# page \(number): \(items.count) item\(items.count == 1 ? "" : "s"), \(next)")] + items).joined(
      separator: "\n") + "\n"
  }
}

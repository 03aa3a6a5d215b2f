import NetLayer
import PortableFoundation
import Streams

struct PagesOptions: URLOptions {
  var request = RequestOptions()
  var url: URL?
  var givenEnvelope: Envelope?
  var givenPaging: Paging?
  var path: String?
  var limit = Int.max

  /// The given envelope. Without `--by`, the default is `Envelope()`, because its cursor is followed.
  var envelope: Envelope { givenEnvelope ?? (givenPaging == nil ? Envelope() : .none) }
  var paging: Paging {
    let name = envelope.cursor ?? "cursor"
    return givenPaging ?? .cursor(at: name, parameter: name)
  }

  mutating func take(_ name: String, _ arguments: inout Arguments) throws -> Bool {
    switch name {
    case "--by": givenPaging = try Paging(commandLine: try arguments.value())
    case "--at": path = try arguments.value()
    case "--envelope": givenEnvelope = try Envelope(commandLine: try arguments.value())
    case "-n", "--limit": limit = try arguments.number(in: 1...1_000_000)
    default: return false
    }
    return true
  }
}

extension Paging {
  /// Reads `link[=PATH]`, `link-header=NAME`, `cursor=PATH[,PARAMETER]`, `cursor-header=NAME,PARAMETER`,
  /// `number[=PARAMETER[,PAGES]]` or `offset[=PARAMETER]`.
  init(commandLine text: String) throws {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let names = parts.dropFirst().flatMap {
      $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }
    switch (parts[0], names.count) {
    case _ where names.contains(""): throw UsageError("--by \(text.debugDescription) has an empty name")
    case ("link", 0): self = .link
    case ("link", 1): self = .link(at: names[0])
    case ("link-header", 1): self = .link(header: names[0])
    case ("cursor-header", 2): self = .cursor(header: names[0], parameter: names[1])
    case ("cursor", 1): self = .cursor(at: names[0])
    case ("cursor", 2): self = .cursor(at: names[0], parameter: names[1])
    case ("number", 0...1): self = .number(parameter: names.first ?? "page")
    case ("number", 2): self = .number(parameter: names[0], pages: names[1])
    case ("offset", 0...1): self = .offset(parameter: names.first ?? "offset")
    default:
      throw UsageError(
        "--by takes link[=PATH], link-header=NAME, cursor=PATH[,PARAMETER], cursor-header=NAME,PARAMETER, "
          + "number[=PARAMETER[,PAGES]] or offset[=PARAMETER], not \(text.debugDescription)"
      )
    }
  }
}

/// `Demo pages`: prints a list of many pages as one stream.
enum PagesCommand {
  static let help = """
    usage: Demo pages [options] URL

    Fetches a list page by page and prints each item as a line of JSON when its page arrives; a terminal shows items
    indented. A line for each page goes to standard error. Fails if a page is repeated. With --json, prints each page as
    a line: page, items, cursor (of the next page).

      --by METHOD           the paging method (default: the cursor of the envelope):
                              link[=PATH]               the Link header's "next", or the URL at a path of the body
                              link-header=NAME          the URL in a header such as Next-Page
                              cursor=PATH[,PARAMETER]   a cursor in the body, sent as a query parameter (default: cursor)
                              cursor-header=NAME,PARAMETER
                                                        a cursor in a header, sent as a query parameter
                              number[=PARAMETER[,PAGES]]
                                                        the page number, from 1 (default: page), up to the number of
                                                        pages at a path of the body or in a header
                              offset[=PARAMETER]        the number of items so far (default: offset)
      --at PATH             the path of the list, such as result.items (default: the body, or the envelope's data)
      -n, --limit N         at most N pages
      --envelope CODE,MESSAGE,DATA[,CURSOR]
                            the envelope's names (default: code,message,data,cursor, or none with --by); CURSOR is
                            also the name of the query parameter
    \(RequestOptions.help)

    Examples, the last three with the URL that `Demo serve` prints:
      Demo pages --by link -n 3 'https://api.github.com/users/apple/repos?per_page=50'
      Demo pages --by link http://127.0.0.1:PORT/api/repos
      Demo pages --by cursor=meta.next,after --at items http://127.0.0.1:PORT/api/events
      Demo pages -n 2 --json http://127.0.0.1:PORT/feed

    Exit code: 0, 1 if a page failed, 2 for a usage error, 130 on interrupt.
    """

  static func run(_ options: PagesOptions, _ console: Console) throws -> Int32 {
    let network = try options.request.network(envelope: options.envelope, console)
    let target = try options.target()
    if options.request.curl { return DryRun.run(target, network, console) }
    let ending = network.pages(target, of: JSON.self, at: options.path, by: options.paging)
      .take(options.limit)
      .enumerated()
      .wait { number, page in
        if !options.request.json { console.log(console.style.dim(heading(of: page, number + 1))) }
        let text = text(of: page, number + 1, options, console)
        return text.isEmpty || console.write(Data(text.utf8))
      }
    return console.finish(ending, json: options.request.json)
  }

  private static func text(
    of page: Page<JSON>, _ number: Int, _ options: PagesOptions, _ console: Console
  ) -> String {
    let items = page.items.map { JSONLine.escaped(String(decoding: Body.compact($0.data), as: UTF8.self)) }
    if options.request.json {
      return JSONLine().adding("page", number).adding("items", json: "[\(items.joined(separator: ","))]")
        .adding("cursor", page.cursor).text + "\n"
    }
    let shown = console.isTerminal ? items.map { IndentedJSON.text($0, console.style) } : items
    return shown.map { $0 + "\n" }.joined()
  }

  /// The line for a page, which is not a part of the output.
  private static func heading(of page: Page<JSON>, _ number: Int) -> String {
    let next = page.cursor.map { "next cursor \($0.escapingControls())" } ?? "last page"
    return "# page \(number): \(page.items.count) item\(page.items.count == 1 ? "" : "s"), \(next)"
  }
}

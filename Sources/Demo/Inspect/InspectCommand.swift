import Dispatch
import NetLayerInspector
import PortableFoundation

struct InspectOptions: PlainOptions {
  static let name = "inspect"
  var request = RequestOptions()
  private(set) var file: URL?

  mutating func take(word: String) throws {
    if let file {
      throw UsageError("pass only one file, not \(file.path.debugDescription) and \(word.debugDescription)")
    }
    file = URL(filePath: word)
  }

  func validate() throws {
    if file == nil { throw UsageError("no file given: pass a HAR file, for example of Demo get --har") }
  }
}

/// `Demo inspect`: shows the calls of a HAR file in a browser.
enum InspectCommand {
  static let help = """
    usage: Demo inspect FILE [--json]

    Serves a page on 127.0.0.1 that shows the calls of a HAR file of this package, a browser or a proxy, until it is
    interrupted. The first line has the URL of the page, which contains a secret. With --json, the line contains: url.
    Passwords and tokens are replaced.

      Demo get https://example.com --har calls.har
      Demo inspect calls.har
    """

  static func run(_ options: InspectOptions, _ console: Console) throws -> Int32 {
    guard let file = options.file else { return 2 }
    let inspector: Inspector
    do {
      inspector = try Inspector(showing: file)
    } catch {
      console.complain(error.reason)
      return 1
    }
    console.print(options.request.json ? JSONLine().adding("url", inspector.url.absoluteString).text : line(inspector))
    let interrupted = DispatchSemaphore(value: 0)
    Interrupt.handle { interrupted.signal() }
    interrupted.wait()
    inspector.stop()
    return 0
  }

  /// Returns the line that names the page.
  static func line(_ inspector: Inspector) -> String { "open \(inspector.url.absoluteString) in a browser" }
}

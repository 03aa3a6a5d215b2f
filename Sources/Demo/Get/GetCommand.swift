import Dispatch
import NetLayer
import PortableFoundation

/// `Demo get`: fetches URLs concurrently and prints each result as it arrives.
enum GetCommand {
  static let help = """
    usage: Demo get [options] URL…      ("-" reads URLs from standard input, one a line, as they come)

    Prints one line of JSON per result, in the order of arrival: url, status, ms, bytes, and body or error.

      -X METHOD             the method (GET, or POST when there is a body)
      -d TEXT               the body; sent as JSON if it is JSON, else as a form, unless -H gives a Content-Type;
                            @FILE is the content of a file, @- that of standard input
      --data-raw TEXT       the same, but an @ is an @
      --data-file FILE      the same as -d @FILE
      -i, --include         show the header fields of responses: a member "headers", with a list of values for each name;
                            with --raw, lines in front of the body
      --envelope CODE,MESSAGE,DATA[,CURSOR]
                            unwrap {code,message,data,cursor}: print the data, or the server's message as an error;
                            200 means success, or what stands behind an equals sign: status=0,msg,result
      --at PATH             print the value at a path such as data.items[0]
      --follow-pages        fetch the next page with the cursor of the last, until there is none
      --concurrency N       at most N requests at once (8)
      --retry N             try up to N times more after a broken connection, a time-out, 429 or a status from 500;
                            not what may happen twice, such as POST
      --raw                 print bodies only, as they came; errors go to standard error
    \(RequestOptions.help)

    Examples:
      Demo get https://api.github.com/repos/swiftlang/swift --at stargazers_count
      Demo get -i https://example.com --raw | head
      Demo get -X PUT -d '{"on":true}' http://127.0.0.1:8080/lamp --curl
      Demo get -d @order.json https://shop.example/orders
      sed 's|^|https://example.com/item/|' ids.txt | Demo get - --concurrency 32 --retry 2 > items.ndjson

    Exit code: 0 if all succeeded, 1 if any failed, 2 for bad usage, 130 on interrupt.
    """

  static func run(_ options: GetOptions, _ console: Console) throws -> Int32 {
    run(try Fetcher(options, console), options, console)
  }

  private static func run(_ fetcher: Fetcher, _ options: GetOptions, _ console: Console) -> Int32 {
    Interrupt.handle {
      fetcher.stop()
      console.progress("")
      // Lines are written whole and at once, so all that has arrived is printed. Not exit(): the reader may wait for
      // its input for ever.
      _exit(130)
    }
    // A slot is taken before the next line is read: the input is asked for no faster than requests are answered.
    for input in options.inputs {
      switch input {
      case .url(let url):
        fetcher.fetch(url)
      case .standardInput:
        var reader = LineReader(descriptor: STDIN_FILENO)
        while let line = reader.next() {
          let text = line.trimming { $0.properties.isWhitespace }
          if !text.isEmpty { fetcher.fetch(text) }
        }
      }
    }
    fetcher.wait()
    console.progress("")
    return fetcher.failures == 0 ? 0 : 1
  }
}

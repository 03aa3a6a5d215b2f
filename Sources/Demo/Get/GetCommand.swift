import Dispatch
import NetLayer
import PortableFoundation

/// `Demo get`: fetches URLs concurrently and prints each result as it arrives.
enum GetCommand {
  static let help = """
    usage: Demo get [options] URL…      ("-" reads URLs from standard input, one per line)

    Prints one line of JSON per result, in the order of arrival: url, status, ms, bytes, body, and error for a failure;
    after redirects also finalUrl. Redirects are followed. The URLs have no user and password.
    A terminal shows JSON indented and colored, except with --json; NO_COLOR disables colors. A URL without a scheme
    is an http:// URL.

      -X METHOD             the method (GET, or POST when there is a body)
      -d TEXT               the body; sent as JSON if it is valid JSON, else as a form, unless -H sets a Content-Type;
                            @FILE reads the body from a file, @- from standard input
      --data-raw TEXT       the body, where @ has no special meaning
      --data-file FILE      the same as -d @FILE
      -F NAME=VALUE         a field of a multipart form; NAME=@FILE sends a file; may be repeated
      -I, --head            send HEAD, and print the response headers
      -o, --output FILE     write the unchanged body of one URL into a file, while it arrives
      -i, --include         print the response headers: a member "headers" with a list of values for each name;
                            with --raw, lines before the body
      --envelope CODE,MESSAGE,DATA[,CURSOR]
                            unwrap {code,message,data,cursor}: print the data, or the server's message as an error;
                            the code 200 means success, unless you set another: status=0,msg,result
      --at PATH             print the value at a path such as data.items[0]; with --envelope, below the data
      --follow-pages        fetch all pages, each with the cursor of the previous page
      --concurrency N       at most N concurrent requests (default: 8)
      --retry N             retry up to N times after a connection failure, a timeout, 429 or a 5xx status; requests
                            that are not idempotent, such as POST, are not retried
      --har FILE            write all requests and responses into a HAR file, with secrets redacted; every browser opens it
      --raw                 print unchanged bodies only, also of failures, and with --at a text without quotes; errors
                            go to standard error; the body of one URL is printed while it arrives, without a limit
                            of its size
    \(RequestOptions.help)

    Examples:
      Demo get https://api.github.com/repos/swiftlang/swift --at stargazers_count
      Demo get -i https://example.com --raw | head
      Demo get -u ada:secret -F photo=@me.jpg https://shop.example/photos
      Demo get -X PUT -d '{"on":true}' http://127.0.0.1:8080/lamp --curl
      Demo get https://example.com --retry 3 --har calls.har
      Demo get -d @order.json https://shop.example/orders
      sed 's|^|https://example.com/item/|' ids.txt | Demo get - --concurrency 32 --retry 2 > items.ndjson

    Exit code: 0 if all succeeded, 1 if any failed, 2 for a usage error, 130 on interrupt.
    """

  static func run(_ options: GetOptions, _ console: Console) throws -> Int32 {
    run(try Fetcher(options, console), options, console)
  }

  private static func run(_ fetcher: Fetcher, _ options: GetOptions, _ console: Console) -> Int32 {
    Interrupt.handle {
      fetcher.stop()
      _ = fetcher.writeArchive()
      console.progress("")
      // Lines are written whole and unbuffered, so all results so far have been printed. `exit` could wait forever for
      // the thread that reads standard input, so this calls `_exit`.
      _exit(130)
    }
    if let url = options.streamed {
      let code = fetcher.stream(url)
      return fetcher.writeArchive() ? code : max(code, 1)
    }
    // `fetch` takes a slot before the next line is read, so the input is read only as fast as requests complete.
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
    let isWritten = fetcher.writeArchive()
    return fetcher.failures == 0 && isWritten ? 0 : 1
  }
}

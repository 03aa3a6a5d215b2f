import LoopbackServer
import NetLayerRecording
import PortableFoundation
import Synchronization

/// The responses of the inspector, and the rules that keep other pages and programs out:
///
/// | threat | rule |
/// |---|---|
/// | a name that resolves to 127.0.0.1 | exactly one `Host` of this server; else status 421 |
/// | other pages, other users of the machine | a secret in the path; else status 404, always with the same bytes |
/// | requests of other pages | `Sec-Fetch-Site` and `Origin` of this page or none; a `POST` requires its `Origin` |
/// | frames | the page only as a document, `X-Frame-Options`, `frame-ancestors` |
/// | values that are HTML | a content security policy that runs only the script with the nonce of the response |
final class InspectorPages: Sendable {
  private let source: InspectedCalls
  private let secret: [UInt8]
  private let session: String
  /// The port of the server, which is known after its start. Requests arrive after it is set, because they need the secret.
  let port = Atomic<UInt16>(0)

  /// The maximum number of bytes of a file that a page sends.
  static let maxImport = 64 << 20

  init(_ source: InspectedCalls, secret: String, session: String) {
    (self.source, self.secret, self.session) = (source, Array(secret.utf8), session)
  }

  /// Returns the maximum number of bytes of a body: only an allowed import has one.
  func bodyLimit(of request: TestServer.Request) -> Int {
    denial(of: request) == nil && request.method == "POST" && page(of: request) == "import" ? Self.maxImport : 0
  }

  func respond(to request: TestServer.Request) -> TestServer.Response {
    if let denial = denial(of: request) { return denial }
    switch (request.method, page(of: request)) {
    case ("GET", ""): return document()
    case ("GET", "events"): return events()
    case ("GET", "har"):
      return Self.response(source.har(), type: "application/json")
        .header("Content-Disposition", "attachment; filename=\"calls.har\"")
    case ("GET", "search"):
      return Self.response(Self.json(source.numbers(containing: request.query("text") ?? "")), type: "application/json")
    case ("POST", "clear"):
      source.clear()
      return Self.response(Data(), type: "text/plain", status: 204)
    case ("POST", "import"): return imported(request.body)
    case ("GET", let page?):
      guard page.hasPrefix("calls/"), let number = Int(page.dropFirst(6)), let call = source[number] else { break }
      return Self.response(Self.json(call.detail), type: "application/json")
    default: break
    }
    return Self.notFound
  }

  /// Returns the path below the secret; `nil` for another path.
  private func page(of request: TestServer.Request) -> Substring? {
    let path = Array(request.path.utf8.dropFirst())
    guard path.count >= secret.count, path.count == secret.count || path[secret.count] == UInt8(ascii: "/") else {
      return nil
    }
    // The time must not depend on the number of equal bytes.
    let difference = zip(path, secret).reduce(0) { $0 | ($1.0 ^ $1.1) }
    return difference == 0 ? request.path.dropFirst(secret.count + 1).drop { $0 == "/" } : nil
  }

  /// Returns the response to a request that is not from the page; `nil` for its requests.
  private func denial(of request: TestServer.Request) -> TestServer.Response? {
    let port = port.load(ordering: .acquiring)
    let hosts = request.headerValues("Host")
    guard hosts.count == 1, let host = hosts.first, ["127.0.0.1:\(port)", "localhost:\(port)"].contains(host) else {
      return Self.response(Data("use the URL that the inspector has printed\n".utf8), type: "text/plain", status: 421)
    }
    guard let page = page(of: request) else { return Self.notFound }
    func values(_ name: String, are allowed: String...) -> Bool {
      request.headerValues(name).allSatisfy { allowed.contains($0) }
    }
    if page.isEmpty {
      // A link to the page may be on another page, for example in a terminal.
      return values("Sec-Fetch-Dest", are: "document") ? nil : Self.notFound
    }
    guard values("Sec-Fetch-Site", are: "same-origin"), values("Origin", are: "http://\(host)") else {
      return Self.notFound
    }
    return request.method == "POST" && request.header("Origin") == nil ? Self.notFound : nil
  }

  // MARK: Responses

  private func document() -> TestServer.Response {
    var random = SystemRandomNumberGenerator()
    let nonce = String(random.next() as UInt64, radix: 16)
    let policy =
      "default-src 'none'; script-src 'nonce-\(nonce)'; style-src 'nonce-\(nonce)'; img-src blob: data:; "
      + "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
      + "require-trusted-types-for 'script'; trusted-types 'none'"
    let page = Page.html.replacing("NONCE", with: nonce)
    return Self.response(Data(page.utf8), type: "text/html; charset=utf-8", policy: policy)
  }

  private func events() -> TestServer.Response {
    // Guards the state of this page, which only the server's thread uses.
    let events = Locked(PageEvents(source, session: session))
    var response = Self.response(Data(), type: "text/event-stream")
    response.body = .pulled(every: 0.1) { events.withLock { $0.next() } }
    return response
  }

  private struct Refused: Encodable { var reason: String }

  /// Returns the calls of a file. The page keeps them.
  private func imported(_ file: [UInt8]) -> TestServer.Response {
    let text = file.withUnsafeBytes { bytes in
      Result { () throws(HARReader.Invalid) in
        guard let start = bytes.baseAddress else { throw HARReader.Invalid("it is empty; save it again") }
        // Not copied, because a file may have 64 MB.
        let archive = Data(
          bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: bytes.count, deallocator: .none)
        return ImportedText(ArchivedCalls(try HARReader.entries(in: archive, hiding: .standard)))
      }
    }
    switch text {
    case .success(let text):
      // Only the server's thread uses it.
      let text = Locked(text)
      var response = Self.response(Data(), type: "application/json")
      response.body = .pulled(every: 0) { text.withLock { $0.next() } }
      return response
    case .failure(let error):
      return Self.response(Self.json(Refused(reason: error.reason)), type: "application/json", status: 422)
    }
  }

  private static let notFound = response(Data("not found\n".utf8), type: "text/plain", status: 404)

  /// Returns a response with the fields that keep it away from other pages. No value of a call is in a field.
  private static func response(
    _ bytes: Data, type: String, status: Int = 200, policy: String = "default-src 'none'; sandbox"
  ) -> TestServer.Response {
    TestServer.Response(
      status: status,
      headers: [
        ("Content-Type", type), ("Content-Security-Policy", policy), ("X-Frame-Options", "DENY"),
        ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Cross-Origin-Opener-Policy", "same-origin"), ("X-Content-Type-Options", "nosniff"),
        ("Cache-Control", "no-store"),
      ], body: .bytes(Array(bytes)))
  }

  /// Returns a value as JSON on one line. The values contain only text, numbers and lists, which can be encoded.
  static func json(_ value: some Encodable) -> Data { (try? JSONEncoder().encode(value)) ?? Data("null".utf8) }
}

import Foundation
import HTTPTransport
import LoopbackServer
import NetLayer
import NetLayerTesting
import Streams
import TestSupport
import XCTest

/// A call with several requests has one calling context: that of its beginning, whichever thread the later requests start on.
final class CapturedContextTests: XCTestCase {
  private enum Note: ContextKey { static let defaultValue: String? = nil }

  private enum Caller {
    @TaskLocal static var name = "none"
  }

  /// Notes the name of the caller, next to a value that the call brings along.
  private struct Capturing: Interceptor {
    let notes: Notes

    func captureContext(into request: inout Request) {
      request.context[Note.self] = "\(Caller.name) \(request.context[Note.self] ?? "-")"
    }

    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
      notes.add(request.context[Note.self] ?? "nothing")
      return next(request)
    }
  }

  /// A server with three pages.
  private func pages(_ interceptors: any Interceptor...) -> Network {
    let stub = StubTransport { request in
      let page = request.url.query.flatMap { Int($0.dropFirst(5)) } ?? 1
      return .json(#"{"results":[\#(page)],"next":\#(page == 3 ? "null" : "\"?page=\(page + 1)\"")}"#)
    }
    return Network(Backend(baseURL: URL(string: "https://api.test"), transport: stub, interceptors: interceptors))
  }

  func test_pages_haveTheContextOfTheirBeginning() async throws {
    let notes = Notes()
    let network = pages(Capturing(notes: notes))
    for name in ["ann", "bob"] {
      try await Caller.$name.withValue(name) {
        let all = try await network.fetchAll(.get("/a"), of: Int.self, at: "results", by: .link(at: "next"))
        XCTAssertEqual(all, [1, 2, 3])
        for try await page in network.pages(.get("/a"), of: Int.self, at: "results", by: .link(at: "next")).values {
          XCTAssertEqual(page.items.count, 1)
        }
      }
    }
    // Each request once, not the note of the page before.
    XCTAssertEqual(notes.all, Array(repeating: "ann -", count: 6) + Array(repeating: "bob -", count: 6))
  }

  func test_aLoopOverOneCall_hasTheContextOfItsTask() async throws {
    let notes = Notes()
    let responses = pages(Capturing(notes: notes)).responses(.get, "/a")
    try await Caller.$name.withValue("ann") { for try await _ in responses.asObservable().values {} }
    XCTAssertEqual(notes.all, ["ann -"])
  }

  func test_valuesOfTheCall_areSeenAndKept() async throws {
    let notes = Notes()
    var call = Call<Response>.get("/a")
    call.context[Note.self] = "own"
    let stream = pages(Capturing(notes: notes)).pages(call, of: Int.self, at: "results", by: .link(at: "next"))
    try await Caller.$name.withValue("ann") { for try await _ in stream.values {} }
    XCTAssertEqual(notes.all, Array(repeating: "ann own", count: 3))
  }

  /// Notes a field of the call.
  private struct FieldCapturing: Interceptor {
    let notes: Notes

    func captureContext(into request: inout Request) { request.context[Note.self] = request.headers["X-Name"] }

    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
      notes.add(request.context[Note.self] ?? "nothing")
      return next(request)
    }
  }

  func test_fieldsOfTheCall_areSeen() async throws {
    let notes = Notes()
    let call = Call<Response>.get("/a").header("X-Name", "ann")
    let stream = pages(FieldCapturing(notes: notes)).pages(call, of: Int.self, at: "results", by: .link(at: "next"))
    for try await _ in stream.values {}
    XCTAssertEqual(notes.all, ["ann", "ann", "ann"])
  }

  func test_aRequestOrContextOfAPage_beginsAnotherCall() async throws {
    let notes = Notes()
    let network = pages(Capturing(notes: notes))
    let list = network.pages(.get("/a"), of: Int.self, at: "results", by: .link(at: "next"))
    let page = try await Caller.$name.withValue("ann") { try await list.take(1).first().value }
    let response = try XCTUnwrap(page?.response)
    try await Caller.$name.withValue("bob") {
      _ = try await network.send(response.request).value
      var call = Call<Response>.get("/b")
      call.context = response.request.context
      _ = try await network.fetch(call)
    }
    XCTAssertEqual(notes.all, ["ann -", "bob ann -", "bob ann -"])
  }

  func test_reconnectionsOfEventsAndSockets_haveTheContextOfTheirBeginning() throws {
    let notes = Notes()
    let server = try TestServer { request in
      if request.path == "/socket" {
        return .socket(TestServer.WebSocketScript(onOpen: [.text("hello"), .end]))
      }
      return .bytes(Array("data: 1\n\n".utf8), type: "text/event-stream")
    }
    defer { server.stop() }
    let network = Network(Backend(baseURL: server.url, interceptors: [Capturing(notes: notes)]))
    let policy = RetryPolicy(attempts: 10, initialDelay: .milliseconds(1))
    try Caller.$name.withValue("ann") {
      _ = try network.events(.get("/events"), reconnect: policy).take(3).toBlocking().toArray()
      _ = try network.webSocket(.get("/socket"), reconnect: policy).messages.take(3).toBlocking().toArray()
    }
    XCTAssertEqual(notes.all, Array(repeating: "ann -", count: 6))
  }

  /// Otherwise, the second page waits for the refresh that reads it.
  func test_pagesOfARefresh_doNotWaitForIt() throws {
    let virtual = VirtualNetwork { request in
      if request.url.path == "/keys" {
        let isFirst = request.url.query == nil
        return .json(#"{"results":["\#(isFirst ? "k" : "new")"],"next":\#(isFirst ? "\"?page=2\"" : "null")}"#)
      }
      return .json("1", status: request.headers["Authorization"] == "Bearer new" ? 200 : 401)
    }
    let network = Box<Network?>(nil)
    let authentication = AuthenticationInterceptor(
      for: [try XCTUnwrap(URL(string: "http://h"))],
      store: MemoryTokenStore(Token(access: "old", expiresAt: .distantPast))
    ) { _ in
      guard let network = network.value else { return .never() }
      return network.pages(.get("/keys"), of: String.self, at: "results", by: .link(at: "next"))
        .toArray().map { Token(access: $0.flatMap(\.items).last ?? "") }
    }
    network.value = virtual.network(authentication)
    virtual.note("", try XCTUnwrap(network.value).responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all.map { $0.prefix(3) }, ["200"])
  }

  func test_aDownloadThatStartsAgain_hasTheUserAndTheContextOfItsBeginning() async throws {
    for leaves in [false, true] {
      let (login, notes, count) = (SilentLogin("ann"), Notes(), Counter())
      let stub = StubTransport { request in
        guard count.next() == 1 else { return .chunks([Data((request.headers["X-User"] ?? "-").utf8)]) }
        if leaves { login.user.value = "bob" }
        return .response(status: 416)
      }
      let network = Network(
        Backend(
          baseURL: URL(string: "https://api.test"), transport: stub, interceptors: [Capturing(notes: notes), login]))
      let file = FileManager.default.temporaryDirectory.appending(path: "download-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: file) }
      let error = await Caller.$name.withValue("ann") { () async -> NetworkError? in
        do throws(NetworkError) { try await network.download(.get("/a"), to: file) } catch { return error }
        return nil
      }
      XCTAssertEqual(error?.kind, leaves ? .authentication : nil)
      XCTAssertEqual(try? String(contentsOf: file, encoding: .utf8), leaves ? nil : "ann")
      XCTAssertEqual(stub.requests.map { $0.headers["X-User"] }, leaves ? ["ann"] : ["ann", "ann"])
      XCTAssertEqual(notes.all, ["ann -", "ann -"])
    }
  }

  func test_equalPagesAtOnce_areSentOnce_unlessTheCallerAddsAValue() {
    for (hasNote, count) in [(false, 1), (true, 2)] {
      let virtual = VirtualNetwork(.json("[1]", after: .seconds(1)))
      let network = virtual.network(CoalescingInterceptor(), TraceInterceptor { TraceContext() })
      var call = Call<Response>.get("/a")
      if hasNote { call.context[Note.self] = "own" }
      let calls = (0..<2).map { _ in
        network.pages(call, of: Int.self, by: .link).subscribe(onNext: { virtual.notes.add("\($0.items)") })
      }
      virtual.scheduler.start()
      XCTAssertEqual(virtual.notes.all, ["[1]", "[1]"])
      XCTAssertEqual(virtual.stub.requests.count, count)
      withExtendedLifetime(calls) {}
    }
  }
}

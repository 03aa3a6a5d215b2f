import Foundation
import HTTPTransport
import LoopbackServer
import NetLayer
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

private struct Feed: Endpoint {
  var path: String { "/feed" }
}

private struct Item: Codable, Equatable, Sendable {
  var id: Int
}

final class StreamTests: XCTestCase {
  func test_requestOfAStreamedResponse_sentAgain_isWhole() throws {
    let virtual = VirtualNetwork(.chunks([Data("a".utf8), Data("b".utf8)]))
    let network = virtual.network()
    let head = Locked<Response?>(nil)
    let subscription = network.response(streaming: Call(.get, "/x")).asObservable()
      .subscribe(onNext: { streamed in head.withLock { $0 = streamed.response } })
    virtual.scheduler.start()
    subscription.dispose()
    let request = try XCTUnwrap(head.withLock { $0 }).request
    virtual.note("", network.send(request))
    var call = Call(.get, "/y")
    call.context = request.context
    virtual.note("", network.responses(call))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all.map { $0.prefix(6) }, ["200 ab", "200 ab"])
  }

  private let scheduler = TestScheduler(resolution: .milliseconds(1))
  private let transport = ScriptedStream()

  private func network(_ interceptors: any Interceptor...) -> Network {
    Network(
      Backend(
        baseURL: URL(string: "http://h"), transport: transport, clock: scheduler, mapping: scheduler,
        interceptors: interceptors))
  }

  /// Runs the work that is due, and returns the last request.
  private func pending() throws -> ScriptedStream.PendingCall {
    scheduler.advanceBy(0)
    return try XCTUnwrap(transport.pendingCalls.last)
  }

  private func note<Element: Sendable>(_ notes: Notes, _ stream: Observable<Element>) -> any Disposable {
    stream.subscribe(
      onNext: { notes.add("\($0)") },
      onError: { error in
        let error = NetworkError.wrapping(error)
        notes.add("\(error.kind)\(error.index.map { " at \($0)" } ?? "")")
      }, onCompleted: { notes.add("|") })
  }

  func test_chunks_areEmittedWhenTheServerSendsThem() throws {
    let notes = Notes()
    let network = network()
    let subscription = note(notes, network.stream(Feed()).map { String(decoding: $0, as: UTF8.self) })
    let pending = try pending()
    pending.reply()
    pending.send("a")
    scheduler.advanceBy(1)
    XCTAssertEqual(notes.all, ["a"])
    pending.send("b")
    pending.end()
    scheduler.advanceBy(1)
    XCTAssertEqual(notes.all, ["a", "b", "|"])
    subscription.dispose()
    XCTAssertEqual(pending.request.timeouts.attempt, nil)
  }

  func test_slowSubscriber_pausesTheServer() throws {
    let sizes = Locked(0)
    let subscription = network().stream(Feed()).subscribe(onNext: { data in sizes.withLock { $0 += data.count } })
    let pending = try pending()
    pending.reply()
    var sent = 0
    while !pending.isPaused, sent < 100 {
      pending.send(Data(count: 64 << 10))
      sent += 1
    }
    XCTAssertEqual(sent, 4, "256 KB are kept")
    scheduler.advanceBy(1)
    XCTAssertFalse(pending.isPaused, "what has been read makes room")
    XCTAssertEqual(sizes.withLock { $0 }, 256 << 10)
    subscription.dispose()
    XCTAssertTrue(pending.isOver)
  }

  func test_disposing_cancelsTheRequest_beforeTheHeadAndInTheBody() throws {
    let network = network()
    let first = network.stream(Feed()).subscribe()
    try pending().dispose()
    first.dispose()
    let second = network.stream(Feed()).subscribe()
    let pending = try pending()
    pending.reply()
    scheduler.advanceBy(1)
    second.dispose()
    XCTAssertTrue(pending.isOver)
    XCTAssertEqual(record(network.requestsInFlight.take(1)).elements, [0])
  }

  func test_disposingBeforeTheHeadIsDelivered_cancelsTheRequest() throws {
    let network = network()
    let subscription = network.stream(Feed()).subscribe()
    let pending = try pending()
    pending.reply()
    subscription.dispose()
    XCTAssertTrue(pending.isOver)
    scheduler.advanceBy(1)
    XCTAssertEqual(record(network.requestsInFlight.take(1)).elements, [0])
  }

  func test_resumeBeforeTheControlIsAttached_isKept() {
    final class Control: StreamControl {
      let resumed = Locked(0)
      func resume() { resumed.withLock { $0 += 1 } }
      func dispose() {}
    }
    let buffer = BodyBuffer(scheduler)
    guard case .pause = buffer.push(Data(count: BodyBuffer.highWater)) else { return XCTFail("full") }
    guard case .element = buffer.take(orCall: {}) else { return XCTFail("there is one") }
    let control = Control()
    buffer.attach(control)
    XCTAssertEqual(control.resumed.withLock { $0 }, 1)
  }

  func test_cancelledReader_doesNotSeeACompleteBody() {
    let buffer = BodyBuffer(scheduler)
    _ = buffer.push(Data(count: 3))
    buffer.finish(nil)
    buffer.cancel()
    guard case .end(let error?) = buffer.take(orCall: {}) else { return XCTFail("it must not look complete") }
    XCTAssertEqual(error.kind, .cancelled)
  }

  func test_releasingAnUnreadResponse_cancelsTheRequest() throws {
    let head = Locked<StreamedResponse?>(nil)
    let subscription = network().response(streaming: Feed()).subscribe(onSuccess: { reply in
      head.withLock { $0 = reply }
    })
    let pending = try pending()
    pending.reply(206)
    scheduler.advanceBy(1)
    XCTAssertEqual(head.withLock { $0?.response.status }, 206)
    subscription.dispose()
    XCTAssertFalse(pending.isOver, "the answer is still there to be read")
    head.withLock { $0 = nil }
    XCTAssertTrue(pending.isOver)
  }

  func test_theRequestOfAStream_sentAgainForAWholeResponse_hasItsLimitsAgain() throws {
    let head = Locked<StreamedResponse?>(nil)
    _ = network().response(streaming: Feed()).subscribe(onSuccess: { reply in head.withLock { $0 = reply } })
    let pending = try pending()
    XCTAssertNil(pending.request.timeouts.idle)
    pending.reply()
    scheduler.advanceBy(1)
    let stub = StubTransport { _ in .json("{}") }
    _ = record(
      Network(Backend(transport: stub)).send(try XCTUnwrap(head.withLock { $0?.response.request })))
    XCTAssertEqual(stub.requests.first?.timeouts.idle, .seconds(60))
  }

  func test_body_canBeReadOnce() throws {
    let head = Locked<StreamedResponse?>(nil)
    _ = network().response(streaming: Feed()).subscribe(onSuccess: { reply in head.withLock { $0 = reply } })
    let pending = try pending()
    pending.reply()
    scheduler.advanceBy(1)
    let reply = try XCTUnwrap(head.withLock { $0 })
    let first = reply.body.subscribe()
    let notes = Notes()
    _ = note(notes, reply.body)
    XCTAssertEqual(notes.all, ["other"])
    XCTAssertFalse(pending.isOver)
    first.dispose()
  }

  func test_errorStatus_isAnErrorWithTheServersMessage() throws {
    let errors = Locked<NetworkError?>(nil)
    _ = network().stream(Feed()).subscribe(onError: { error in errors.withLock { $0 = NetworkError.wrapping(error) } })
    let pending = try pending()
    pending.reply(403, ["Content-Type": "application/json"])
    pending.send(#"{"message":"not "#)
    pending.send(#"yours"}"#)
    pending.end()
    scheduler.advanceBy(1)
    let error = try XCTUnwrap(errors.withLock { $0 })
    XCTAssertEqual(error.kind, .status)
    XCTAssertEqual(error.code, 403)
    XCTAssertEqual(error.message, "not yours")
  }

  func test_errorInTheBody_followsTheReceivedChunks() throws {
    let notes = Notes()
    _ = note(notes, network().stream(Feed()).map { $0.count })
    let pending = try pending()
    pending.reply()
    pending.send("abc")
    pending.end(.connection)
    scheduler.advanceBy(1)
    XCTAssertEqual(notes.all, ["3", "connection"])
  }

  func test_retryAndAuthentication_happenBeforeTheBody() throws {
    let authentication = AuthenticationInterceptor(
      for: [try XCTUnwrap(URL(string: "http://h"))], store: MemoryTokenStore(Token(access: "old")),
      refresh: { _ in .just(Token(access: "new")) })
    let retry = RetryInterceptor(policy: RetryPolicy(jitter: { $0.upperBound }, scheduler: scheduler))
    let notes = Notes()
    let subscription = note(
      notes, network(CoalescingInterceptor(), retry, authentication).stream(Feed()).map { $0.count })
    try pending().reply(503)
    scheduler.advanceBy(500)
    try pending().reply(401)
    scheduler.advanceBy(1)
    XCTAssertEqual(transport.pendingCalls.count, 3)
    XCTAssertEqual(transport.pendingCalls.map(\.isOver), [true, true, false], "answers that nobody reads are let go")
    let last = try pending()
    XCTAssertEqual(last.request.headers["Authorization"], "Bearer new")
    last.reply()
    last.send("four")
    last.end()
    scheduler.advanceBy(1)
    XCTAssertEqual(notes.all, ["4", "|"])
    subscription.dispose()
  }

  func test_jsonLines_areDecodedInOrderOfArrival() throws {
    let notes = Notes()
    _ = note(notes, network().lines(Feed(), as: Item.self).map(\.id))
    let pending = try pending()
    pending.reply()
    pending.send("{\"id\":1}\n{\"i")
    scheduler.advanceBy(1)
    XCTAssertEqual(notes.all, ["1"])
    pending.send("d\":2}\r\n\n  \n{\"id\":3}")
    pending.end()
    scheduler.advanceBy(1)
    XCTAssertEqual(notes.all, ["1", "2", "3", "|"])
  }

  func test_linesOfText_areUnchanged_inTheCharsetOfTheServer() throws {
    for (type, bytes) in [
      ("text/plain", Data("é|\"7\"".utf8)), ("text/plain; charset=iso-8859-1", Data([0xE9] + Array("|\"7\"".utf8))),
    ] {
      let notes = Notes()
      _ = note(notes, network().lines(Feed(), as: String.self).map { "<\($0)>" })
      let pending = try pending()
      XCTAssertNil(pending.request.headers["Accept"])
      pending.reply(200, ["Content-Type": type])
      pending.send(Data("# a\r\n\n ".utf8) + bytes.prefix(1))
      pending.send(bytes.dropFirst())
      pending.end()
      scheduler.advanceBy(1)
      XCTAssertEqual(notes.all, ["<# a>", "<>", "< é|\"7\">", "|"], type)
    }
  }

  func test_aBodyThatIsNotLines_isInTheError_withTheMessageOfTheServer() throws {
    let body = "{\n  \"error\": {\"message\": \"The model does not exist\"}\n}\n"
    let (first, rest) = (body.prefix(20), body.dropFirst(20))
    let long = "{\n\"a\": \"" + String(repeating: "x", count: 100_000)
    for (chunks, ends, kept, message) in [
      ([body], true, body, "The model does not exist"),
      ([String(first), String(rest)], true, body, "The model does not exist"),
      // The rest never arrives.
      ([String(first)], false, String(first), nil),
      ([String(long.prefix(60_000)), String(long.dropFirst(60_000))], false, String(long.prefix(65_536)), nil),
      (["{\"error\":{\"message\":\"No\"}}"], true, "{\"error\":{\"message\":\"No\"}}", "No"),
    ] as [([String], Bool, String, String?)] {
      let errors = Locked<[NetworkError]>([])
      let subscription = network().lines(Feed(), as: Item.self).subscribe(
        onNext: { XCTFail("\($0)") }, onError: { error in errors.withLock { $0.append(NetworkError.wrapping(error)) } })
      let pending = try pending()
      pending.reply(200, ["Content-Type": "application/json"])
      for chunk in chunks {
        pending.send(chunk)
        scheduler.advanceBy(1)
      }
      if ends { pending.end() }
      scheduler.advanceBy(ends || chunks.count == 2 ? 1 : 9_000)
      XCTAssertEqual(errors.withLock { $0.count }, ends || chunks.count == 2 ? 1 : 0, kept)
      scheduler.advanceBy(2_000)
      let error = try XCTUnwrap(errors.withLock { $0.last }, kept)
      XCTAssertEqual(error.kind, .parse)
      XCTAssertEqual(error.index, 0)
      XCTAssertEqual(error.response.map { String(decoding: $0.body, as: UTF8.self) }, kept)
      XCTAssertEqual(error.message, message ?? NetworkError.Messages.localized.parse)
      XCTAssertEqual(error.reason.contains("the server's message"), message != nil, error.reason)
      XCTAssertTrue(pending.isOver)
      subscription.dispose()
    }
  }

  func test_lineThatCannotBeDecoded_endsTheStream_afterEarlierLines() throws {
    let notes = Notes()
    _ = note(notes, network().lines(Feed(), as: Item.self).map(\.id))
    let pending = try pending()
    pending.reply()
    pending.send("{\"id\":1}\n{\"id\":\"two\"}\n{\"id\":3}\n")
    scheduler.advanceBy(1)
    XCTAssertEqual(notes.all, ["1", "parse at 1"])
    XCTAssertTrue(pending.isOver)
  }

  func test_endlessLine_isAnError() throws {
    let notes = Notes()
    _ = note(notes, network().lines(Feed(), as: Item.self, maxLineLength: 10).map(\.id))
    let pending = try pending()
    pending.reply()
    pending.send("{\"id\":1}\n{\"id\":1          ")
    scheduler.advanceBy(1)
    XCTAssertEqual(notes.all, ["1", "parse at 1"])
  }

  func test_loop_readsChunks_andCancellingItsTaskCancelsTheRequest() async throws {
    let server = try TestServer(handler: { _ in .init(body: .bytes([UInt8](repeating: 7, count: 2 << 20))) })
    defer { server.stop() }
    let network = Network(Backend(baseURL: server.url))
    let total = try await withTimeLimit {
      try await network.response(streaming: Feed()).value.chunks.reduce(0) { $0 + $1.count }
    }
    XCTAssertEqual(total, 2 << 20)
    let second = try await withTimeLimit { try await network.response(streaming: Feed()).value }
    let task = Task {
      var iterator = second.chunks.makeAsyncIterator()
      withUnsafeCurrentTask { $0?.cancel() }
      while try await iterator.next() != nil {}
    }
    do {
      try await withTimeLimit { try await task.value }
      XCTFail("cancelling ends the loop with an error")
    } catch {
      XCTAssertEqual(NetworkError.wrapping(error).kind, .cancelled)
    }
    XCTAssertEqual(record(network.requestsInFlight.filter { $0 == 0 }.take(1)).elements, [0])
  }

  func test_downloadsAndEvents_avoidTheBackendsHTTP2_unlessTheCallChoosesIt() throws {
    let stub = StubTransport { _ in .json("{}", status: 500) }
    let options = Request.Options(httpVersion: .http2)
    let network = Network(Backend(baseURL: URL(string: "http://h"), transport: stub, options: options))
    let file = FileManager.default.temporaryDirectory.appending(path: "version-\(UUID().uuidString)")
    for (call, version) in [(Call.get("/a"), Request.HTTPVersion.http1), (.get("/a").httpVersion(.http2), .http2)] {
      _ = record(network.events(call))
      _ = record(network.transfer(downloading: call, to: file))
      XCTAssertEqual(stub.requests.suffix(2).map(\.options.httpVersion), [version, version])
      _ = record(network.responses(HTTPMethod.get, "/a"))
      XCTAssertEqual(stub.requests.last?.options.httpVersion, .http2)
    }
  }
}

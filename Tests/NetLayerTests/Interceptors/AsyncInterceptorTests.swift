import Foundation
import HTTPTransport
import NetLayer
import NetLayerTesting
import Streams
import TestSupport
import XCTest

/// Interceptors, token refreshes and signers that use `await`.
final class AsyncInterceptorTests: XCTestCase {
  private let url = URL(string: "http://api.test")

  private func network(_ transport: any Transport, _ change: (inout Backend) -> Void) -> Network {
    var backend = Backend(baseURL: url, transport: transport)
    change(&backend)
    return Network(backend)
  }

  func test_asyncInterceptor_changesRepeatsAndResponds() async throws {
    let stub = StubTransport([
      .init(nil, "/twice", .sequence([.json("1", status: 503), .json("2")])), .init(nil, "/once", .json("3")),
    ])
    let api = network(stub) {
      $0.interceptors = [
        AsyncInterceptor { request, next in
          if request.url.path == "/own" { return Response(request: request, body: Data("own".utf8)) }
          var request = request
          request.headers["X"] = await Task { "stamp" }.value
          let response = try await next(request)
          return response.status == 503 ? try await next(request) : response
        }
      ]
    }
    let twice = try await api.fetch(.get("/twice"), as: String.self)
    let once = try await api.fetch(.get("/once"), as: String.self)
    let own = try await api.fetch(.get("/own"), as: String.self)
    XCTAssertEqual([twice, once, own], ["2", "3", "own"])
    XCTAssertEqual(stub.requests.map { $0.headers["X"] }, ["stamp", "stamp", "stamp"])
  }

  func test_asyncInterceptor_passesErrorsAndCancellationToTheCall() async throws {
    struct Own: Error {}
    let transport = StubTransport { _ in .never }
    let failing = network(transport) { $0.interceptors = [AsyncInterceptor { _, _ in throw Own() }] }
    do {
      try await failing.fetch(.get("/x"))
      XCTFail("no error")
    } catch {
      XCTAssertTrue(error.underlying is Own, "\(error)")
    }
    let waiting = network(transport) {
      $0.interceptors = [AsyncInterceptor { request, next in try await next(request) }]
    }
    let task = Task { try await waiting.fetch(.get("/x")) }
    try await eventually("the condition holds") { !transport.requests.isEmpty }
    task.cancel()
    _ = await task.result
    try await eventually("the condition holds") { transport.cancelled.count > 0 }
  }

  func test_asyncRefresh_isNotIntercepted() async throws {
    let stub = StubTransport { request in
      if request.url.path == "/token" {
        return .json(request.headers["Authorization"] == nil ? #"{"access":"new"}"# : "{}")
      }
      return .json("ok", status: request.headers["Authorization"] == "Bearer new" ? 200 : 401)
    }
    let url = try XCTUnwrap(url)
    let itself = Locked<Network?>(nil)
    let authentication = AuthenticationInterceptor(for: [url], store: MemoryTokenStore(Token(access: "old"))) { old in
      XCTAssertEqual(old?.access, "old")
      // Asynchronously, and with the same network that waits for the token.
      await Task.yield()
      guard let api = itself.withLock({ $0 }) else { throw CancellationError() }
      let reply: JSON = try await api.fetch(.post("/token", form: ["refresh_token": old?.refresh]))
      return Token(access: reply["access"].string ?? "")
    }
    let api = network(stub) { $0.interceptors = [authentication] }
    itself.withLock { $0 = api }
    async let first = api.fetch(.get("/a"), as: String.self)
    async let second = api.fetch(.get("/b"), as: String.self)
    let both = try await [first, second]
    XCTAssertEqual(both, ["ok", "ok"])
    XCTAssertEqual(stub.requests.filter { $0.url.path == "/token" }.count, 1)
    itself.withLock { $0 = nil }
  }

  func test_signer_signsEachAttempt() async throws {
    let stub = StubTransport([.init(nil, "/x", .sequence([.json("busy", status: 503), .json("1")]))])
    let count = Locked(0)
    let api = network(stub) { backend in
      backend.commonParameters = { ["c": 3] }
      backend.signer = ClosureSigner { content in
        await Task.yield()
        let turn = count.withLock { count in
          count += 1
          return count
        }
        return RequestSignature(parameters: ["sign": "\(content.text)#\(turn)"], headers: ["X-Sign": "\(turn)"])
      }
      backend.interceptors = [
        AsyncInterceptor { request, next in
          XCTAssertNil(request.headers["X-Sign"], "it is signed when it is sent")
          let response = try await next(request)
          return response.status == 503 ? try await next(request) : response
        }
      ]
    }
    let one = try await api.fetch(.get("/x", query: ["b": 2]), as: Int.self)
    XCTAssertEqual(one, 1)
    XCTAssertEqual(stub.requests.map { $0.headers["X-Sign"] }, ["1", "2"])
    XCTAssertEqual(
      stub.requests.map { $0.url.query ?? "" }, ["b=2&c=3&sign=b%3D2%26c%3D3%231", "b=2&c=3&sign=b%3D2%26c%3D3%232"])
    XCTAssertEqual(stub.requests.last?.originBoundHeaders["X-Sign"], "2", "no redirect takes it elsewhere")
  }

  func test_aCancellationErrorOfAnotherTask_isOfKindCancelled() async throws {
    let stub = StubTransport { _ in .json("1") }
    let intercepted = network(stub) { $0.interceptors = [AsyncInterceptor { _, _ in throw CancellationError() }] }
    let signed = network(stub) { $0.signer = ClosureSigner { _ in throw CancellationError() } }
    for api in [intercepted, signed] {
      do {
        try await api.fetch(.get("/x"))
        XCTFail("no error")
      } catch {
        XCTAssertEqual(error.kind, .cancelled, "\(error)")
        XCTAssertTrue(error.underlying is CancellationError)
      }
    }
    XCTAssertEqual(stub.requests.count, 0)
  }

  func test_concurrentCallsWithTwoSigners_doNotShareAResponse() async throws {
    let stub = StubTransport { .json("\"\($0.headers["X-Sign"] ?? "")\"", after: .seconds(0.05)) }
    let shared = network(stub) { $0.interceptors = [CoalescingInterceptor()] }
    let ann = shared.with { $0.signer = ClosureSigner { _ in RequestSignature(headers: ["X-Sign": "ann"]) } }
    let bob = shared.with { $0.signer = ClosureSigner { _ in RequestSignature(headers: ["X-Sign": "bob"]) } }
    async let first = ann.fetch(.get("/me"), as: String.self)
    async let second = bob.fetch(.get("/me"), as: String.self)
    let users = try await [first, second]
    XCTAssertEqual(users, [#""ann""#, #""bob""#])
  }

  func test_aSignedResponseOfOneUser_isNotReadFromTheCacheByAnother() async throws {
    let user = Locked("ann")
    let stub = StubTransport { request in
      .response(headers: ["Cache-Control": "max-age=60"], body: Data("\"\(request.url.query ?? "")\"".utf8))
    }
    let api = network(stub) {
      $0.interceptors = [CacheInterceptor(ResponseCache(storingIn: nil), policy: .http)]
      $0.signer = ClosureSigner(for: { user.withLock { $0 } }) { _ in
        RequestSignature(parameters: ["uid": user.withLock { $0 }])
      }
    }
    let first = try await api.fetch(.get("/me"), as: String.self)
    user.withLock { $0 = "bob" }
    let second = try await api.fetch(.get("/me"), as: String.self)
    XCTAssertEqual([first, second], [#""uid=ann""#, #""uid=bob""#])
  }

  func test_failingSigner_sendsNothing() async throws {
    struct Own: Error {}
    let stub = StubTransport { _ in .json("1") }
    let api = network(stub) { $0.signer = ClosureSigner { _ in throw Own() } }
    do {
      try await api.fetch(.get("/x"))
      XCTFail("no error")
    } catch {
      XCTAssertEqual(error.kind, .encoding)
      XCTAssertTrue(error.underlying is Own)
    }
    XCTAssertEqual(stub.requests.count, 0)
  }

  func test_resentRequest_isSignedOnce() async throws {
    let stub = StubTransport([.init(nil, "/x", .sequence([.json("busy", status: 503), .json("1")]))])
    let count = Locked(0)
    let api = network(stub) { backend in
      backend.signer = ClosureSigner { content in
        XCTAssertNil(content.request.headers["S"], "the former signature is removed")
        let turn = count.withLock { count in
          count += 1
          return count
        }
        return RequestSignature(parameters: ["sign": "\(content.text)#\(turn)"], headers: ["S": "\(turn)"])
      }
      backend.interceptors = [
        AsyncInterceptor { request, next in
          let response = try await next(request)
          return response.status == 503 ? try await next(response.request) : response
        }
      ]
    }
    try await api.fetch(.get("/x?b=2"))
    XCTAssertEqual(stub.requests.map { $0.url.query ?? "" }, ["b=2&sign=b%3D2%231", "b=2&sign=b%3D2%232"])
    XCTAssertEqual(stub.requests.map { $0.headers["S"] }, ["1", "2"])
  }

  func test_errorOfASigner_isDeliveredLikeResults_withTheBackendsMessage() throws {
    struct Own: Error {}
    let queue = DispatchQueue(label: "mapping")
    let mark = QueueMark()
    mark.put(on: queue)
    let observed = Locked<[Bool]>([])
    let api = network(StubTransport { _ in .json("1") }) {
      $0.signer = ClosureSigner { _ in throw Own() }
      $0.mapping = SerialDispatchQueueScheduler(queue: queue, internalSerialQueueName: "mapping")
      $0.messages = .chinese
      $0.onError = { _ in observed.withLock { $0.append(mark.isHere) } }
    }
    XCTAssertEqual(try failure(of: api.responses(.get, "/x")).message, NetworkError.Messages.chinese.parameter)
    XCTAssertEqual(observed.withLock { $0 }, [true])
  }

  func test_signer_canCallTheNetworkWhoseRefreshItSigns() async throws {
    let stub = StubTransport { request in
      switch request.url.path {
      case "/token": .json(#"{"access":"new"}"#)
      case "/key": .json("\"k\"")
      default: .json("ok", status: request.headers["Authorization"] == "Bearer new" ? 200 : 401)
      }
    }
    let url = try XCTUnwrap(url)
    let login = Locked<Network?>(nil)
    let authentication = AuthenticationInterceptor(
      for: [url], store: MemoryTokenStore(Token(access: "old")), timeout: .seconds(5)
    ) { _ in
      guard let api = login.withLock({ $0 }) else { throw CancellationError() }
      let reply: JSON = try await api.fetch(.post("/token"))
      return Token(access: reply["access"].string ?? "")
    }
    let keys = network(stub) { $0.interceptors = [authentication] }
    let signed = keys.with {
      $0.signer = ClosureSigner { _ in
        let key: String = try await keys.fetch(.get("/key"))
        return RequestSignature(headers: ["S": key])
      }
    }
    login.withLock { $0 = signed }
    let ok = try await signed.fetch(.get("/a"), as: String.self)
    XCTAssertEqual(ok, "ok")
    login.withLock { $0 = nil }
  }

  func test_queryInThePath_isSigned() async throws {
    let stub = StubTransport { _ in .json("1") }
    let api = network(stub) {
      $0.signer = ClosureSigner { RequestSignature(headers: ["S": $0.text]) }
    }
    try await api.fetch(.get("/pay?to=7&from=a%20b", query: ["n": 1]))
    XCTAssertEqual(stub.requests.last?.headers["S"], "from=a b&n=1&to=7")
  }

  func test_responseToASignedRequest_isCached() async throws {
    let stub = StubTransport { request in
      .response(
        status: request.headers["If-None-Match"] == nil ? 200 : 304,
        headers: ["ETag": "\"1\"", "Cache-Control": "no-cache"],
        body: Data(request.headers["If-None-Match"] == nil ? "1".utf8 : "".utf8))
    }
    let count = Locked(0)
    let api = network(stub) { backend in
      backend.signer = ClosureSigner { _ in
        RequestSignature(parameters: [
          "nonce": count.withLock { count in
            count += 1
            return count
          }
        ])
      }
      backend.interceptors = [CacheInterceptor(ResponseCache(storingIn: nil))]
    }
    for _ in 0..<3 {
      let one = try await api.fetch(.get("/x"), as: Int.self)
      XCTAssertEqual(one, 1)
    }
    XCTAssertEqual(stub.requests.map { $0.url.query ?? "" }, ["nonce=1", "nonce=2", "nonce=3"])
    XCTAssertEqual(stub.requests.map { $0.headers["If-None-Match"] == nil }, [true, false, false])
  }
}

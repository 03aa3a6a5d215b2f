import Foundation
import HTTPTransport
import NetLayer
import Streams
import StreamsTesting
import TestSupport
import XCTest

/// A signer that signs the token, the path and a nonce, which is a counter. It records its input.
private final class NonceSigner: Signer {
  let nonce = Counter()
  let seen = Notes()
  let inParameters: Bool

  init(inParameters: Bool) { self.inParameters = inParameters }

  func sign(_ content: ContentToSign) -> RequestSignature {
    let token = content.request.headers["Authorization"] ?? "none"
    let sign = "\(nonce.next())"
    seen.add(
      "\(content.text) \(token) \(content.request.headers["X-Sign"] ?? "-") \(content.request.url.query() ?? "-")")
    return inParameters ? RequestSignature(parameters: ["sign": sign]) : RequestSignature(headers: ["X-Sign": sign])
  }
}

/// Each attempt has its own signature, which covers the changes that interceptors make.
final class SigningAttemptsTests: XCTestCase {
  private func network(
    _ virtual: VirtualNetwork, _ signer: any Signer, _ interceptors: any Interceptor...
  ) -> Network {
    virtual.network().with { backend in
      backend.signer = signer
      backend.interceptors = interceptors
    }
  }

  private func retry(_ virtual: VirtualNetwork) -> RetryInterceptor {
    RetryInterceptor(policy: RetryPolicy(scheduler: virtual.scheduler))
  }

  func test_requestSentOnce_isSignedOnce() {
    for inParameters in [true, false] {
      let virtual = VirtualNetwork(.json("ok"))
      let signer = NonceSigner(inParameters: inParameters)
      virtual.note("", network(virtual, signer, retry(virtual)).responses(.get, "/x", parameters: ["a": 1]))
      virtual.scheduler.start()
      XCTAssertEqual(signer.seen.all, ["a=1 none - a=1"])
    }
  }

  func test_contextOfAFormerRequest_bringsNoSignature() throws {
    for inParameters in [true, false] {
      let virtual = VirtualNetwork(.json("ok"))
      let signer = NonceSigner(inParameters: inParameters)
      let network = network(virtual, signer, retry(virtual))
      virtual.note("", network.responses(.get, "/x", parameters: ["a": 1]))
      virtual.scheduler.start()
      var again = Call(.get, "/x", task: .parameters(["a": 1]))
      again.context = try XCTUnwrap(virtual.stub.requests.first).context
      virtual.note("", network.responses(again))
      virtual.scheduler.start()
      let signs = virtual.stub.requests.map { request in
        inParameters ? request.url.query() : request.headers["X-Sign"]
      }
      XCTAssertEqual(signs, inParameters ? ["a=1&sign=1", "a=1&sign=2"] : ["1", "2"])
      XCTAssertEqual(signer.seen.all, ["a=1 none - a=1", "a=1 none - a=1"])
    }
  }

  func test_eachAttempt_hasItsOwnNonce() {
    for inParameters in [true, false] {
      let virtual = VirtualNetwork(.sequence([.json("busy", status: 503), .failure(.timeout), .json("ok")]))
      let signer = NonceSigner(inParameters: inParameters)
      virtual.note("", network(virtual, signer, retry(virtual)).responses(.get, "/x", parameters: ["a": 1]))
      virtual.scheduler.start()
      let signs = virtual.stub.requests.map { request in
        inParameters ? request.url.query() : request.headers["X-Sign"]
      }
      XCTAssertEqual(signs, inParameters ? ["a=1&sign=1", "a=1&sign=2", "a=1&sign=3"] : ["1", "2", "3"])
      XCTAssertEqual(signer.seen.all, Array(repeating: "a=1 none - a=1", count: 3), "never the former signature")
    }
  }

  func test_signer_receivesTheToken_alsoAfterARefresh() throws {
    for inParameters in [true, false] {
      let virtual = VirtualNetwork {
        $0.headers["Authorization"] == "Bearer new" ? .json("ok") : .json("", status: 401)
      }
      let signer = NonceSigner(inParameters: inParameters)
      let authentication = AuthenticationInterceptor(
        for: [try XCTUnwrap(URL(string: "http://h"))], store: MemoryTokenStore(Token(access: "old")),
        refresh: { _ in .just(Token(access: "new")) })
      virtual.note(
        "", network(virtual, signer, authentication).responses(.post, "/x", parameters: ["a": 1], encoding: .json))
      virtual.scheduler.start()
      XCTAssertEqual(
        signer.seen.all, ["a=1 Bearer old - -", "a=1 Bearer new - -"], "sent, and sent again")
      XCTAssertEqual(
        virtual.stub.requests.map { inParameters ? $0.text : $0.headers["X-Sign"] ?? "" },
        inParameters ? [#"{"a":1,"sign":"1"}"#, #"{"a":1,"sign":"2"}"#] : ["1", "2"])
      XCTAssertEqual(virtual.notes.all, ["200 ok @0"])
    }
  }

  func test_urlChangedByAnInterceptor_isKept_withOneSignature() {
    struct Traced: Interceptor {
      func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
        var request = request
        request.url.append(queryItems: [URLQueryItem(name: "trace", value: "é&")])
        return next(request)
      }
    }
    let virtual = VirtualNetwork(.json("ok"))
    let signer = NonceSigner(inParameters: true)
    virtual.note("", network(virtual, signer, Traced()).responses(.get, "/x", parameters: ["a": 1]))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.stub.requests.map { $0.url.query() }, ["a=1&trace=%C3%A9%26&sign=1"])
    XCTAssertEqual(signer.seen.all.last, "a=1 none - a=1&trace=%C3%A9%26")
  }

  func test_sentRequestWithAChangedURL_isSignedOnce() {
    struct Again: Interceptor {
      func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
        next(request).flatMap { response -> Observable<Response> in
          guard response.status == 503 else { return .just(response) }
          var again = response.request
          again.url.append(queryItems: [URLQueryItem(name: "trace", value: "1")])
          return next(again)
        }
      }
    }
    let virtual = VirtualNetwork(.sequence([.json("busy", status: 503), .json("ok")]))
    let signer = NonceSigner(inParameters: true)
    let network = network(virtual, signer, Again())
    virtual.note("", network.responses(.get, "/x", parameters: ["a": 1]))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.stub.requests.map { $0.url.query() }, ["a=1&sign=1", "a=1&trace=1&sign=2"])
    XCTAssertEqual(signer.seen.all, ["a=1 none - a=1", "a=1 none - a=1&trace=1"], "never the former signature")
  }

  func test_multipartBody_isSignedAgain_withItsOwnBoundary() throws {
    struct Upload: Endpoint {
      var path: String { "/up" }
      var method: HTTPMethod { .put }
      var task: HTTPTask { .multipart(MultipartForm([.field("f", "x")])) }
    }
    let virtual = VirtualNetwork(.sequence([.json("busy", status: 503), .json("ok")]))
    let network = network(virtual, NonceSigner(inParameters: true), retry(virtual))
    let call: Single<Response> = network.request(Upload())
    virtual.note("", call)
    virtual.scheduler.start()
    XCTAssertEqual(virtual.stub.requests.count, 2)
    for (index, request) in virtual.stub.requests.enumerated() {
      let type = try XCTUnwrap(request.headers["Content-Type"])
      let boundary = try XCTUnwrap(type.split(separator: "boundary=").last)
      XCTAssertEqual(request.text.components(separatedBy: boundary).count, 4, "two parts and the end")
      XCTAssertTrue(request.text.contains("\r\n\r\n\(index + 1)\r\n"), request.text)
    }
  }

  func test_streamedRequest_isSignedAgain_withTheNewToken() throws {
    let virtual = VirtualNetwork(.chunks([Data("a".utf8), Data("b".utf8)]))
    let signer = NonceSigner(inParameters: false)
    let authentication = AuthenticationInterceptor(
      for: [try XCTUnwrap(URL(string: "http://h"))], store: MemoryTokenStore(Token(access: "t")),
      refresh: { _ in throw TestError() })
    struct Get: Endpoint {
      var path: String { "/x" }
    }
    _ = network(virtual, signer, authentication).stream(Get()).subscribe(onNext: { _ in })
    virtual.scheduler.start()
    XCTAssertEqual(virtual.stub.requests.map { $0.headers["X-Sign"] }, ["1"])
    XCTAssertEqual(signer.seen.all.last, " Bearer t - -")
  }

  func test_signatureOfARetry_isMadeAfterItsPause() {
    let virtual = VirtualNetwork(.sequence([.json("busy", status: 503), .json("ok")]))
    let times = Notes()
    let scheduler = virtual.scheduler
    let signer = ClosureSigner { _ in
      times.add("\(scheduler.clock)")
      return RequestSignature(headers: ["X-Sign": "s"])
    }
    let policy = RetryPolicy(
      initialDelay: .seconds(8), maxDelay: .seconds(8), jitter: { $0.upperBound },
      scheduler: scheduler)
    virtual.note("", network(virtual, signer, RetryInterceptor(policy: policy)).responses(.get, "/x"))
    scheduler.start()
    XCTAssertEqual(times.all, ["0", "8000"])
  }

  func test_accountsOfSigners_decideWhoSharesAResponse() {
    let named = ["ann", "ann", "bob"].map { user in ClosureSigner(for: { user }) { _ in RequestSignature() } }
    let unnamed = [ClosureSigner { _ in RequestSignature() }, ClosureSigner { _ in RequestSignature() }]
    for (signers, requests) in [(named, 2), (unnamed, 2)] {
      let virtual = VirtualNetwork(
        .response(headers: ["Cache-Control": "max-age=60"], body: Data("ok".utf8), after: .seconds(1)))
      let shared: [any Interceptor] = [CoalescingInterceptor(), CacheInterceptor(ResponseCache(storingIn: nil))]
      let networks = signers.map { signer in
        virtual.network().with {
          $0.interceptors = shared
          $0.signer = signer
        }
      }
      for round in 1...2 {
        for network in networks { virtual.note("", network.responses(.get, "/me")) }
        virtual.scheduler.start()
        XCTAssertEqual(virtual.notes.all.count, round * signers.count)
        XCTAssertEqual(virtual.stub.requests.count, requests, "shared in the first round, stored in the second")
      }
    }
  }

  func test_signerOfTheAccountOfTheToken_keepsTheCredentialsOfTheToken() throws {
    for inParameters in [true, false] {
      let virtual = VirtualNetwork(
        .response(headers: ["Cache-Control": "max-age=60", "Vary": "Authorization"], body: Data("ok".utf8)))
      let authentication = AuthenticationInterceptor(
        for: [try XCTUnwrap(URL(string: "http://h"))], store: MemoryTokenStore(Token(access: "a", account: "ann"))
      ) { _ in throw TestError() }
      let signer = ClosureSigner(for: { "ann" }) { _ in
        inParameters ? RequestSignature(parameters: ["sign": "s"]) : RequestSignature(headers: ["X-Sign": "s"])
      }
      let network = network(virtual, signer, CacheInterceptor(ResponseCache(storingIn: nil)), Again(), authentication)
      for _ in 1...2 {
        virtual.note("", network.responses(.get, "/me"))
        virtual.scheduler.start()
      }
      XCTAssertEqual(virtual.notes.all.map { $0.prefix(6) }, ["200 ok", "200 ok"])
      XCTAssertEqual(virtual.stub.requests.count, 2, "a request, its repetition, and a stored response")
      XCTAssertEqual(virtual.stub.requests.map { $0.credentials.map(\.account) }, [["ann", "ann"], ["ann", "ann"]])
    }
  }

  /// Sends the sent request of a response a second time.
  private struct Again: Interceptor {
    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
      next(request).flatMap { next($0.request) }
    }
  }

  func test_signerThatFailsAtTheSecondAttempt_failsTheCall() throws {
    final class Once: Signer {
      let count = Counter()
      func sign(_ content: ContentToSign) throws -> RequestSignature {
        guard count.next() == 1 else { throw TestError("no key") }
        return RequestSignature(headers: ["X-Sign": "1"])
      }
    }
    let virtual = VirtualNetwork(.json("busy", status: 503))
    let errors = Locked<[NetworkError]>([])
    _ = network(virtual, Once(), retry(virtual)).responses(.get, "/x")
      .subscribe(onError: { error in errors.withLock { $0.append(NetworkError.wrapping(error)) } })
    virtual.scheduler.start()
    let error = try XCTUnwrap(errors.withLock { $0 }.first)
    XCTAssertEqual(error.kind, .encoding)
    XCTAssertEqual(error.underlying as? TestError, TestError("no key"))
    XCTAssertEqual(virtual.stub.requests.count, 1)
  }
}

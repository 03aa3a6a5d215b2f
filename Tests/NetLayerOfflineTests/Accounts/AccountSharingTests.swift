import Foundation
import HTTPTransport
import LoopbackServer
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import NetLayer
@testable import NetLayerOffline

/// A signer that knows its user.
private final class SigningLogin: Signer, AccountSource {
  let user = BehaviorRelay<String?>(value: nil)
  var accountState: AccountState { user.value.map { .user($0) } ?? .nobody }
  var accountChanges: Observable<Void>? { user.asObservable().map { _ in } }
  func covers(_ request: Request) -> Bool { true }
  func sign(_ content: ContentToSign) async throws -> RequestSignature {
    RequestSignature(headers: user.value.map { ["X-Who": $0] } ?? [:])
  }
}

/// A transport that knows its user.
private final class TransportLogin: Transport, AccountSource {
  let user = BehaviorRelay<String?>(value: nil)
  private let base: any Transport

  init(_ base: any Transport) { self.base = base }

  var accountState: AccountState { user.value.map { .user($0) } ?? .nobody }
  var accountChanges: Observable<Void>? { user.asObservable().map { _ in } }
  func covers(_ request: Request) -> Bool { true }
  func send(
    _ request: Request, progress: ProgressHandler?,
    completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> any Disposable {
    var request = request
    request.headers["X-Who"] = user.value
    return base.send(request, progress: progress, completion: completion)
  }
}

/// An interceptor that knows its user. Its field has no secret word.
private final class FieldLogin: Interceptor, AccountSource {
  let user: BehaviorRelay<String?>
  private let field: String
  private let origin: URL?
  private let statesCredentials: Bool

  init(_ user: String? = nil, field: String = "X-Who", statesCredentials: Bool = false, for origin: URL? = nil) {
    (self.user, self.field, self.statesCredentials) = (BehaviorRelay(value: user), field, statesCredentials)
    self.origin = origin
  }

  var accountState: AccountState { user.value.map { .user($0) } ?? .nobody }
  var accountChanges: Observable<Void>? { user.asObservable().map { _ in } }
  func covers(_ request: Request) -> Bool { origin.map { $0.port == request.url.port } ?? true }
  func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    guard covers(request), let name = user.value else { return next(request) }
    let credentials = Request.Credentials(account: name, headers: [field: name])
    guard !statesCredentials else { return next(request, with: credentials) }
    var request = request
    request.headers[field] = name
    return next(request)
  }
}

/// Caches and shared requests of sources of any kind, and the fields that a source states as its credentials.
final class AccountSharingTests: UploadTestCase {
  private func server() throws -> TestServer {
    try TestServer { request in
      .json("{\"user\":\"\(request.header("X-Who") ?? "-")\"}").header("Cache-Control", "max-age=600")
    }
  }

  private func cache() -> CacheInterceptor { CacheInterceptor(ResponseCache(storingIn: nil)) }

  /// Signs users in and out, each of whom must see its own response.
  private func assertSeparates(
    _ backend: Backend, _ user: BehaviorRelay<String?>, file: StaticString = #filePath, line: UInt = #line
  ) async throws {
    let network = Network(backend)
    var seen: [String] = []
    for name in ["ann", nil, "bob", nil, "ann"] as [String?] {
      user.accept(name)
      seen.append(try JSON(parsing: try await network.fetch(Call<Response>.get("/me")).body)["user"].string ?? "")
    }
    XCTAssertEqual(seen, ["ann", "-", "bob", "-", "ann"], file: file, line: line)
  }

  func test_accounts_cache_separatesUsers_ofInterceptorsSignersAndTransports() async throws {
    let server = try server()
    for statesCredentials in [false, true] {
      let login = FieldLogin(statesCredentials: statesCredentials)
      try await assertSeparates(Backend(baseURL: server.url, interceptors: [cache(), login]), login.user)
      let second = FieldLogin(statesCredentials: statesCredentials)
      try await assertSeparates(Backend(baseURL: server.url, interceptors: [second, cache()]), second.user)
    }
    let signer = SigningLogin()
    try await assertSeparates(Backend(baseURL: server.url, signer: signer, interceptors: [cache()]), signer.user)
    let transport = TransportLogin(try CurlTransport())
    try await assertSeparates(
      Backend(baseURL: server.url, transport: transport, interceptors: [cache()]), transport.user)
  }

  func test_accounts_sharedRequests_separateUsers_ofSignersAndTransports() throws {
    for isSigner in [true, false] {
      let clock = TestScheduler(resolution: .milliseconds(1))
      let stub = StubTransport(on: clock) { .json("\"\($0.headers["X-Who"] ?? "-")\"", after: .milliseconds(10)) }
      let (signer, transport) = (SigningLogin(), TransportLogin(stub))
      let user = isSigner ? signer.user : transport.user
      let network = Network(
        Backend(
          baseURL: URL(string: "http://h"), transport: isSigner ? stub : transport, clock: clock, mapping: clock,
          signer: isSigner ? signer : nil, interceptors: [CoalescingInterceptor()]))
      let seen = Notes()
      for name in ["ann", "bob"] {
        user.accept(name)
        _ = network.request(Call<Response>.get("/me")).subscribe(onSuccess: { response in
          seen.add("\(name) \(String(decoding: response.body, as: UTF8.self))")
        })
      }
      clock.start()
      XCTAssertEqual(seen.all.last, "bob \"bob\"", "\(seen.all)")
      XCTAssertEqual(stub.requests.count, isSigner ? 1 : 2, "the signer signs bob's request; ann has left")
    }
  }

  func test_accounts_cache_separatesEqualNamesOfTwoSources() async throws {
    let server = try TestServer { request in
      .json("{\"staff\":\"\(request.header("X-Staff") ?? "-")\"}").header("Cache-Control", "max-age=600")
    }
    let staff = FieldLogin("7", field: "X-Staff", statesCredentials: true)
    let customer = FieldLogin(field: "X-Customer", statesCredentials: true)
    let network = Network(Backend(baseURL: server.url, interceptors: [cache(), staff, customer]))
    let first = try await network.fetch(Call<Response>.get("/me")).body
    staff.user.accept(nil)
    customer.user.accept("7")
    let second = try await network.fetch(Call<Response>.get("/me")).body
    XCTAssertNotEqual(first, second)
    let request = try network.builder.request(for: CallContent(Call<Response>.get("/me")))
    let ofCustomer = network.accounts(of: request).text
    staff.user.accept("7")
    customer.user.accept(nil)
    XCTAssertNotEqual(network.accounts(of: request).text, ofCustomer)
  }

  func test_accounts_cache_separatesEqualNamesOfTwoTokens() async throws {
    let server = try TestServer { request in
      .json("{\"staff\":\"\(request.header("X-Staff") ?? "-")\"}").header("Cache-Control", "max-age=600")
    }
    func login(_ field: String, _ token: Token?) -> AuthenticationInterceptor {
      AuthenticationInterceptor(
        for: [server.url], store: MemoryTokenStore(token), apply: { $1.headers[field] = $0.access }
      ) { _ in .never() }
    }
    let token = Token(access: "t", account: "7")
    let (staff, customer) = (login("X-Staff", token), login("X-Customer", nil))
    let network = Network(Backend(baseURL: server.url, interceptors: [cache(), staff, customer]))
    let first = try await network.fetch(Call<Response>.get("/me")).body
    let again = try await network.fetch(Call<Response>.get("/me"))
    XCTAssertEqual(again.source.kind, .cache)
    staff.set(nil)
    customer.set(token)
    let second = try await network.fetch(Call<Response>.get("/me")).body
    XCTAssertNotEqual(first, second)
  }

  // MARK: Credentials that a source states

  func test_accounts_statedCredentials_reachNoOtherOrigin_andNoURLThatItChooses() async throws {
    let (asked, link) = (Notes(), Box(""))
    let home = try TestServer { request in
      asked.add("home \(request.path) \(request.header("X-Acme") ?? "-")")
      switch request.path {
      case "/list": return TestServer.Response.json("[1]").header("Link", "<\(link.value)>; rel=\"next\"")
      case "/moved": return .redirect(to: link.value, status: 307)
      case "/files":
        return TestServer.Response.status(201).header("Location", link.value).header("Tus-Resumable", "1.0.0")
      default: return .json("[]")
      }
    }
    let back = home.url("/accounts/me").absoluteString
    let other = try TestServer { request in
      asked.add("other \(request.header("X-Acme") ?? "-")")
      return TestServer.Response.json("[2]").header("Link", "<\(back)>; rel=\"next\"")
    }
    link.value = other.url("/x").absoluteString
    for origin in [home.url, other.url] {
      let login = FieldLogin("secret", field: "X-Acme", statesCredentials: true, for: origin)
      let network = Network(Backend(baseURL: home.url, interceptors: [login]))
      _ = try? await network.fetchAll(.get("/list"), of: Int.self)
      _ = try? await network.fetch(Call<Response>.get("/moved"))
      try write(1000)
      try removeNotes()
      _ = try? await network.upload(film, to: Call<Response>.post("/files"), by: .tus, retry: RetryPolicy(attempts: 1))
    }
    XCTAssertEqual(
      Set(asked.all.filter { $0.hasPrefix("other") || $0.contains("/accounts/me") }),
      ["other -", "home /accounts/me -"])
    XCTAssertTrue(asked.all.contains("home /list secret"))
  }
}

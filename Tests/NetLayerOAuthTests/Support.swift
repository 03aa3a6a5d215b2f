import Foundation
import LoopbackServer
import NetLayerOAuth
import NetLayerTesting
import PortableFoundation
import TestSupport
import XCTest

/// A clock whose waits end immediately, and are recorded.
final class JumpingClock: SchedulerType {
  // Guards the time and the waits of all threads.
  private let state = Locked((now: JumpingClock.start, waits: [Double]()))
  static let start = Date(timeIntervalSince1970: 1_800_000_000)

  var now: Date { state.withLock { $0.now } }
  var waits: [Double] { state.withLock { $0.waits } }

  func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable {
    DispatchQueue.global().async(execute: action)
    return Disposables.create()
  }

  func scheduleRelative(_ dueTime: Duration, _ action: @escaping @Sendable () -> Void) -> any Disposable {
    state.withLock {
      $0.waits.append(dueTime / .seconds(1))
      $0.now += dueTime / .seconds(1)
    }
    return schedule(action)
  }
}

/// An authorization server in memory, and the clients of it.
struct World {
  static let server = OAuthServer(
    token: url("https://as/token"), authorization: url("https://as/authorize"), device: url("https://as/device"),
    revocation: url("https://as/revoke"), issuer: "https://as")
  let stub: StubTransport
  let network: Network
  let clock: any SchedulerType

  init(
    clock: any SchedulerType = JumpingClock(), interceptors: [any Interceptor] = [],
    _ respond: @escaping @Sendable (Request) -> StubTransport.StubbedResponse?
  ) {
    stub = StubTransport(respond)
    self.clock = clock
    network = Network(Backend(transport: stub, clock: clock, interceptors: interceptors))
  }

  init(_ response: StubTransport.StubbedResponse) { self.init { _ in response } }

  func client(
    _ server: OAuthServer = World.server, id: String = "cli", authentication: OAuthClient.Authentication = .none,
    scope: String? = nil, resource: String? = nil, parameters: [String: String] = [:]
  ) -> OAuthClient {
    OAuthClient(
      server: server, id: id, authentication: authentication, scope: scope, resource: resource, parameters: parameters,
      network: network)
  }

  var requests: [Request] { stub.requests }
  var forms: [[String: String]] { requests.map(\.form) }
}

func url(_ text: String) -> URL { URL(string: text) ?? URL(filePath: "/") }

/// A good response of the token endpoint.
let good = StubTransport.StubbedResponse.json(#"{"access_token":"a"}"#)

extension Request {
  var bodyText: String {
    guard case .data(let data) = body else { return "" }
    return String(decoding: data, as: UTF8.self)
  }

  var form: [String: String] { pairs(of: bodyText) }
}

/// The parameters of a query or a form.
func pairs(of text: String) -> [String: String] {
  var pairs: [String: String] = [:]
  for pair in text.split(separator: "&") {
    let parts = pair.split(separator: "=", maxSplits: 1).map { part in
      String(part).replacingOccurrences(of: "+", with: " ").removingPercentEncoding ?? ""
    }
    pairs[parts[0]] = parts.count == 2 ? parts[1] : ""
  }
  return pairs
}

extension URL {
  var pairs: [String: String] { NetLayerOAuthTests.pairs(of: query(percentEncoded: true) ?? "") }
}

/// Returns an unsigned ID token.
func idToken(_ claims: String) -> String {
  func part(_ text: String) -> String {
    Data(text.utf8).base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(
      of: "/", with: "_"
    )
    .replacingOccurrences(of: "=", with: "")
  }
  return "\(part(#"{"alg":"RS256"}"#)).\(part(claims)).c2ln"
}

/// Returns the error of an operation that must fail.
func thrown(
  line: UInt = #line, _ operation: () async throws -> some Any
) async throws -> NetworkError {
  do {
    let result = try await operation()
    XCTFail("no error, but \(result)", line: line)
    return NetworkError(kind: .other, reason: "no error")
  } catch {
    return try XCTUnwrap(error as? NetworkError, "\(error)", line: line)
  }
}

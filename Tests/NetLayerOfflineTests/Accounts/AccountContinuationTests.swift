import Foundation
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import NetLayer
@testable import NetLayerOffline

/// Calls of several requests: pages, event streams and sockets. The later requests are those of the user who began.
final class AccountContinuationTests: XCTestCase {
  private let home = URL(string: "http://h") ?? URL(filePath: "/")
  private let clock = TestScheduler(resolution: .milliseconds(1))

  private func network(_ login: OwnLogin, _ reply: @escaping @Sendable (Request) -> StubTransport.StubbedResponse?) -> (
    Network, StubTransport
  ) {
    let stub = StubTransport(on: clock, reply)
    return (
      Network(Backend(baseURL: home, transport: stub, clock: clock, mapping: clock, interceptors: [login])), stub
    )
  }

  private func users(_ stub: StubTransport) -> [String] { stub.requests.map { $0.headers["X-User"] ?? "-" } }

  func test_accounts_pages_endWhenTheUserChanges() {
    for (to, kinds, asked) in [
      ("bob", ["1", "authentication"], ["ann 1"]), ("ann", ["1", "2", "completed"], ["ann 1", "ann 1"]),
    ] {
      let login = OwnLogin(.user("ann"), for: home)
      let (network, stub) = network(login) { request in
        var fields: HTTPHeaders = ["Content-Type": "application/json"]
        if request.url.path == "/1" { fields["Link"] = #"<http://h/2>; rel="next""# }
        return .response(headers: fields, body: Data(#"[{"n":1}]"#.utf8), after: .milliseconds(10))
      }
      let seen = Notes()
      let subscription = network.pages(.get("/1"), of: [String: Int].self).subscribe(
        onNext: { page in
          seen.add("\(seen.all.count + 1)")
          login.set(.nobody)
          login.set(.user(to))
        }, onError: { seen.add("\(NetworkError.wrapping($0).kind)") }, onCompleted: { seen.add("completed") })
      clock.start()
      XCTAssertEqual(seen.all, kinds)
      XCTAssertEqual(users(stub), asked)
      subscription.dispose()
    }
  }

  func test_accounts_events_areNotReconnectedAsAnotherUser() {
    for (to, last, asked) in [
      ("bob", "authentication", ["ann 1"]), ("ann", "ann 1", ["ann 1", "ann 1"]),
    ] {
      let login = OwnLogin(.user("ann"), for: home)
      let (network, stub) = network(login) { request in
        .response(
          headers: ["Content-Type": "text/event-stream"],
          body: Data("data: \(request.headers["X-User"] ?? "-")\n\n".utf8))
      }
      let seen = Notes()
      let subscription = network.events(.get("/feed")).take(2).subscribe(
        onNext: { event in
          seen.add(event.data)
          login.set(.user(to))
        }, onError: { seen.add("\(NetworkError.wrapping($0).kind)") })
      clock.advanceBy(120_000)
      XCTAssertEqual(seen.all, ["ann 1", last])
      XCTAssertEqual(users(stub), asked)
      subscription.dispose()
    }
  }

  func test_accounts_eventsThatNobodyBegan_mayBecomeThoseOfTheFirstUser() {
    let login = OwnLogin(.nobody, for: home)
    let (network, stub) = network(login) { _ in
      .response(headers: ["Content-Type": "text/event-stream"], body: Data("data: 1\n\n".utf8))
    }
    let subscription = network.events(.get("/feed")).take(2).subscribe(onNext: { _ in login.set(.user("ann")) })
    clock.advanceBy(120_000)
    XCTAssertEqual(users(stub), ["-", "ann 1"])
    subscription.dispose()
  }

  func test_accounts_socket_isNotReconnectedAsAnotherUser() {
    let login = OwnLogin(.user("ann"), for: home)
    let (network, stub) = network(login) { _ in
      .socket(.init([.message(.text("1")), .failure(.connection, after: .milliseconds(10))]))
    }
    let seen = Notes()
    let session = network.webSocket(.get("/room"), reconnect: RetryPolicy(attempts: 5, initialDelay: .milliseconds(10)))
    let subscription = session.messages.subscribe(
      onNext: { message in
        seen.add(message.text ?? "")
        login.set(.user("bob"))
      }, onError: { seen.add("\(NetworkError.wrapping($0).kind)") })
    clock.advanceBy(120_000)
    XCTAssertEqual(seen.all, ["1", "authentication"])
    XCTAssertEqual(users(stub), ["ann 1"])
    subscription.dispose()
  }

  // MARK: Calls that nobody began

  func test_accounts_callThatNobodyBegan_belongsToTheFirstUser() {
    for begun in [AccountState.nobody, .unknown] {
      let login = OwnLogin(begun, for: home)
      let asked = Counter()
      let (network, stub) = network(login) { request in
        asked.next()
        login.set(asked.value == 1 ? .user("ann") : .user("bob"))
        return .json("[1]", status: 503)
      }
      let retrying = network.with {
        $0.interceptors.insert(
          RetryInterceptor(policy: RetryPolicy(attempts: 5, initialDelay: .milliseconds(10))), at: 0)
      }
      let kinds = Notes()
      let call = retrying.request(Call<Response>.get("/me")).subscribe(
        onError: { kinds.add("\(NetworkError.wrapping($0).kind)") })
      clock.advanceBy(10_000)
      XCTAssertEqual(users(stub), ["-", "ann 1"])
      XCTAssertEqual(kinds.all, ["authentication"])
      call.dispose()
    }
  }

  func test_accounts_pagesThatNobodyBegan_belongToTheFirstUser() {
    let login = OwnLogin(.nobody, for: home)
    let (network, stub) = network(login) { request in
      let page = (Int(request.url.lastPathComponent) ?? 0) + 1
      let fields: HTTPHeaders = ["Content-Type": "application/json", "Link": "<http://h/\(page)>; rel=\"next\""]
      return .response(headers: fields, body: Data("[\(page)]".utf8))
    }
    let kinds = Notes()
    let pages = Counter()
    let walk = network.pages(.get("/1"), of: Int.self).subscribe(
      onNext: { _ in
        pages.next()
        login.set(pages.value == 1 ? .user("ann") : .user("bob"))
      }, onError: { kinds.add("\(NetworkError.wrapping($0).kind)") })
    clock.start()
    XCTAssertEqual(users(stub), ["-", "ann 1"])
    XCTAssertEqual(kinds.all, ["authentication"])
    walk.dispose()
  }
}

import Foundation
import Streams
import StreamsTesting
import TestSupport
import XCTest

@testable import NetLayer
@testable import NetLayerOffline
@testable import NetLayerQueries

/// The rows of `AccountSource`, each through real interceptors, watchers, outboxes and uploads, over real connections: with
/// the login of an app, and with an `AuthenticationInterceptor`.
final class AccountRowTests: AccountTestCase {
  // MARK: Live queries

  func test_accounts_rows_01_02_03_watch_followsTheUser() throws {
    for (from, to) in [(nil, "ann"), ("ann", nil), ("ann", "bob")] as [(String?, String?)] {
      let server = try AskedServer()
      for login in logins(server.url, from) {
        server.clear()
        let network = Network(Backend(baseURL: server.url, interceptors: [login.source]))
        let (shown, end) = watch(network)
        let (former, present) = (from.map { "\($0) 1" } ?? "-", to.map { "\($0) 1" } ?? "-")
        XCTAssertTrue(holds { shown.all.last == former }, "\(shown.all)")
        login.signIn(to)
        XCTAssertTrue(holds { shown.all.last == present }, "\(shown.all)")
        XCTAssertEqual(
          shown.all.filter { $0 != "none" }.reduce(into: []) { if $0.last != $1 { $0.append($1) } }, [former, present])
        let start = shown.all.firstIndex(of: former) ?? 0
        XCTAssertTrue(shown.all[start...].contains("none"), "the values are removed: \(shown.all)")
        XCTAssertEqual(server.seen, ["GET /me \(former)", "GET /me \(present)"])
        end.dispose()
      }
    }
  }

  func test_accounts_row_04_watch_ofAUserWhoComesBack_isRequestedAgain() throws {
    let server = try AskedServer()
    for login in logins(server.url, "ann") {
      server.clear()
      let (shown, end) = watch(Network(Backend(baseURL: server.url, interceptors: [login.source])))
      XCTAssertTrue(holds { shown.all.last == "ann 1" })
      login.signIn(nil)
      login.signIn("ann")
      // The request without a user, which is cancelled, may arrive last.
      XCTAssertTrue(
        holds { shown.all.last == "ann 1" && server.seen.count { $0 == "GET /me ann 1" } >= 2 },
        "\(shown.all), \(server.seen)")
      end.dispose()
    }
  }

  func test_accounts_row_04_watch_ofAUserWhoIsBackBeforeTheQueryHasTime_isRequestedAgain() throws {
    let server = try AskedServer()
    for login in logins(server.url, "ann") {
      server.clear()
      let network = Network(Backend(baseURL: server.url, interceptors: [login.source]))
      let shown = Notes()
      let end = network.watch(Call<Response>.get("/me").as(JSON.self)).subscribe(onNext: { snapshot in
        let user = snapshot.value?["user"].string ?? "none"
        shown.add(user)
        // The query's drain is busy with this function.
        if shown.all.filter({ $0 == "ann 1" }).count == 1, user == "ann 1" {
          login.signIn(nil)
          login.signIn("ann")
        }
      })
      XCTAssertTrue(
        holds { server.seen.count { $0 == "GET /me ann 1" } == 2 && shown.all.last == "ann 1" },
        "\(shown.all), \(server.seen)")
      end.dispose()
    }
  }

  func test_accounts_rows_05_06_watch_ignoresANewTokenOfTheUser() throws {
    let server = try AskedServer()
    for login in logins(server.url, "ann") {
      server.clear()
      let (shown, end) = watch(Network(Backend(baseURL: server.url, interceptors: [login.source])))
      XCTAssertTrue(holds { shown.all.last == "ann 1" })
      let count = shown.all.count
      login.renew()
      let (other, otherEnd) = watch(Network(Backend(baseURL: server.url, interceptors: [login.source])), "/other")
      XCTAssertTrue(holds { other.all.last == "ann 11" })
      XCTAssertEqual(shown.all.count, count, "\(shown.all)")
      XCTAssertEqual(server.seen, ["GET /me ann 1", "GET /other ann 11"])
      otherEnd.dispose()
      end.dispose()
    }
  }

  func test_accounts_row_07_watch_noticesTheUserOfAnotherProcess_whenTheStoreIsRead() async throws {
    let server = try AskedServer { $0.header("X-User") == "ann 1" && $0.path == "/old" ? 401 : 200 }
    let store = MemoryTokenStore(Token(access: "ann 1", account: "ann"))
    let login = AuthenticationInterceptor(
      for: [server.url], store: store, apply: { $1.headers["X-User"] = $0.access }
    ) { _ in .error(NetworkError(kind: .status, reason: "no refresh")) }
    let network = Network(Backend(baseURL: server.url, interceptors: [login]))
    let (shown, end) = watch(network)
    XCTAssertTrue(holds { shown.all.last == "ann 1" })
    store.save(Token(access: "bob 1", account: "bob"))
    // A rejection makes the interceptor read the store.
    _ = try? await network.fetch(Call<Response>.get("/old"))
    XCTAssertTrue(holds { shown.all.last == "bob 1" }, "\(shown.all)")
    XCTAssertEqual(server.seen.filter { $0.hasPrefix("GET /me") }, ["GET /me ann 1", "GET /me bob 1"])
    end.dispose()
  }

  func test_accounts_row_08_watch_ofAUserWhoIsUnknownForAMoment_isThatOfTheNextOne() throws {
    let server = try AskedServer()
    for next in ["ann", "bob"] {
      server.clear()
      let login = OwnLogin(.user("ann"), for: server.url)
      let (shown, end) = watch(Network(Backend(baseURL: server.url, interceptors: [login])))
      XCTAssertTrue(holds { shown.all.last == "ann 1" })
      login.set(.unknown)
      login.set(.user(next))
      XCTAssertTrue(holds { shown.all.last == "\(next) 1" }, "\(shown.all)")
      XCTAssertEqual(server.seen, next == "ann" ? ["GET /me ann 1"] : ["GET /me ann 1", "GET /me bob 1"])
      end.dispose()
    }
  }

  func test_accounts_row_08_unknownUser_becomesKnown_withoutAChange() async throws {
    let server = try AskedServer()
    let login = OwnLogin(.unknown, for: server.url, stored: .user("ann"))
    let network = Network(Backend(baseURL: server.url, interceptors: [login]))
    let key = try network.address(CallContent(Call<Response>.get("/me")), accept: nil).key
    let (shown, end) = watch(network)
    XCTAssertTrue(holds { shown.all.last == "-" })
    let (outbox, states) = try outbox(network)
    XCTAssertThrowsError(try outbox.send(Call<Response>.post("/note"))) { error in
      XCTAssertEqual((error as? NetworkError)?.kind, .authentication)
      XCTAssert("\(error)".contains("loadAccount"), "\(error)")
    }
    let uploads = try UploadServer(.tus)
    try write(3000)
    let upload = OwnLogin(.unknown, for: uploads.url, stored: .user("ann"))
    _ = try await Network(Backend(baseURL: uploads.url, interceptors: [upload])).upload(
      film, to: Call<Response>.post("/files"), by: .tus)
    XCTAssertEqual(Set(uploads.requests.map { $0.header("X-User") }), ["ann 1"], "the upload has waited for the store")
    try await login.loadAccount()
    XCTAssertEqual(shown.all.last, "-", "the first look is no change")
    XCTAssertEqual(try network.address(CallContent(Call<Response>.get("/me")), accept: nil).key, key)
    try outbox.send(Call<Response>.post("/note"))
    outbox.start()
    XCTAssertTrue(holds { states.value == [] && server.seen.last == "POST /note ann 1" }, "\(server.seen)")
    end.dispose()
  }

  // MARK: Outboxes

  func test_accounts_rows_01_02_03_04_05_outbox_sendsAsTheUserOnly() throws {
    let server = try AskedServer()
    for login in logins(server.url, "ann") {
      server.clear()
      let network = Network(Backend(baseURL: server.url, interceptors: [login.source]))
      login.waits()
      let (outbox, states) = try outbox(network)
      try outbox.send(Call<Response>.post("/1"))
      login.signIn(nil)
      XCTAssertThrowsError(try outbox.send(Call<Response>.post("/nobody")), "nobody's write")
      outbox.start()
      XCTAssertTrue(holds { states.value == ["ann otherUser"] }, "\(states.value)")
      login.signIn("bob")
      try outbox.send(Call<Response>.post("/2"))
      XCTAssertTrue(holds { states.value == ["ann otherUser"] && server.seen == ["POST /2 bob 1"] }, "\(server.seen)")
      login.signIn("ann")
      XCTAssertTrue(holds { states.value.isEmpty })
      login.renew()
      try outbox.send(Call<Response>.post("/3"))
      XCTAssertTrue(holds { states.value.isEmpty })
      XCTAssertEqual(server.seen, ["POST /2 bob 1", "POST /1 ann 1", "POST /3 ann 11"])
    }
  }

  func test_accounts_outbox_401OfAnOwnLogin_waitsForTheSignIn() throws {
    let isRejected = Box(true)
    let server = try AskedServer { _ in isRejected.value ? 401 : 200 }
    let login = OwnLogin(.user("ann"), for: server.url)
    let (outbox, states) = try outbox(Network(Backend(baseURL: server.url, interceptors: [login])))
    outbox.start()
    try outbox.send(Call<Response>.post("/1"))
    XCTAssertTrue(holds { states.value == ["ann waitingForSignIn"] }, "\(states.value)")
    isRejected.value = false
    login.renew()
    XCTAssertTrue(holds { states.value.isEmpty })
    XCTAssertEqual(server.seen, ["POST /1 ann 1", "POST /1 ann 11"])
  }

  /// Changes the user after the outbox has checked it, and before the interceptor reads it.
  private struct Switch: Interceptor {
    let login: OwnLogin
    let isOn = Box(true)
    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
      let isFirst = isOn.update { isOn in
        defer { isOn = false }
        return isOn
      }
      if isFirst { login.set(.user("bob")) }
      return next(request)
    }
  }

  func test_accounts_outbox_userWhoChangesBetweenCheckAndSending_sendsNothing() throws {
    let server = try AskedServer()
    let login = OwnLogin(.user("ann"), for: server.url)
    let network = Network(Backend(baseURL: server.url, interceptors: [Switch(login: login), login]))
    let (outbox, states) = try outbox(network)
    try outbox.send(Call<Response>.post("/1"))
    outbox.start()
    XCTAssertTrue(holds { states.value == ["ann otherUser"] }, "\(states.value)")
    XCTAssertEqual(server.seen, [])
    login.set(.user("ann"))
    XCTAssertTrue(holds { states.value.isEmpty })
    XCTAssertEqual(server.seen, ["POST /1 ann 1"])
  }

  // MARK: Uploads

  func test_accounts_rows_02_to_05_upload_belongsToItsUser() async throws {
    for (name, expected) in [("ann", continued), ("bob", another)] {
      for own in [true, false] {
        let server = try UploadServer(.tus)
        try write(3000)
        try removeNotes()
        let login = logins(server.url, "ann")[own ? 0 : 1]
        let network = network(server) { $0.interceptors = [login.source] }
        pause(network, server)
        login.signIn(nil)
        login.signIn(name)
        if name == "ann" { login.renew() }
        let result = await upload(server, .tus, on: network)
        XCTAssertNil(result.kind)
        XCTAssertEqual(kinds(server), expected)
        XCTAssertEqual(Set(server.requests.map { $0.header("X-User")?.prefix(3) }), [name.prefix(3)])
      }
    }
  }

  func test_accounts_rows_02_03_upload_ofAUserWhoLeaves_fails_andItsNoteStays() async throws {
    for to in [nil, "bob"] as [String?] {
      for own in [true, false] {
        let server = try UploadServer(.tus)
        try write(3000)
        try removeNotes()
        let login = logins(server.url, "ann")[own ? 0 : 1]
        let network = network(server) { $0.interceptors = [login.source] }
        server.fail("POST", .before { login.signIn(to) })
        let result = await upload(server, .tus, on: network)
        XCTAssertEqual(result.kind, .authentication)
        XCTAssertEqual(kinds(server), ["POST"], "nothing follows")
        XCTAssertEqual(notes.count, 1)
        login.signIn("ann")
        let rest = await upload(server, .tus, on: network)
        XCTAssertNil(rest.kind)
        XCTAssertEqual(Set(server.requests.map { $0.header("X-User") }), ["ann 1"])
      }
    }
  }

  func test_accounts_row_08_uploadOfAUserWhoStaysUnknown_isAnError() async throws {
    let server = try UploadServer(.tus)
    try write(3000)
    let login = OwnLogin(.unknown, for: server.url)
    let result = await upload(server, .tus, on: network(server) { $0.interceptors = [login] })
    guard case .failure(let error) = result else { return XCTFail("no error") }
    XCTAssertEqual(error.kind, .authentication)
    XCTAssertTrue(error.reason.contains("loadAccount()"), error.reason)
    XCTAssertEqual(server.log, [])
  }
}

import Foundation
import HTTPTransport
import NetLayer
import Streams
import StreamsTesting
import TestSupport
import XCTest

/// The limits of a refresh, and the order of what is saved.
final class TokenRefreshTests: XCTestCase {
  /// A store in memory with a lock, a gate for each method, and a disk that may be full.
  private final class Store: TokenStore {
    let token: Box<Token?>
    let events = Notes()
    let isFull = Box(false)
    let isReadOnly = Box(false)
    let isLocked = Box(false)
    /// The names of the methods that wait.
    let closed = Box<Set<String>>([])

    init(_ token: Token?) { self.token = Box(token) }

    private func pass(_ name: String) async throws {
      // At most 20 s.
      for _ in 0..<4000 where closed.value.contains(name) { try await Task.sleep(for: .milliseconds(5)) }
    }

    func load() async throws -> Token? {
      try await pass("load")
      return token.value
    }

    func save(_ token: Token?) async throws {
      let name = token?.access ?? "none"
      events.add("save \(name)")
      try await pass(name)
      if isReadOnly.value || isFull.value && token != nil {
        events.add("full")
        throw TestError("full")
      }
      self.token.value = token
      events.add("saved \(name)")
    }

    func lockForRefresh() -> (any Disposable)? {
      guard isLocked.update({ exchange(&$0, with: true) }) == false else { return nil }
      return Disposables.create { [self] in isLocked.value = false }
    }
  }

  private let refreshes = Counter()
  private let dead = Token(access: "dead", refresh: "r", account: "ann")

  private func network(
    _ store: Store, timeout: Duration = .seconds(3), accepts: [String] = ["new"],
    refresh: @escaping @Sendable (TestScheduler) -> Single<Token>
  ) throws -> (VirtualNetwork, Network, AuthenticationInterceptor) {
    let virtual = VirtualNetwork { request in
      accepts.contains { request.headers["Authorization"] == "Bearer \($0)" }
        ? .json("ok") : .json("who?", status: 401)
    }
    let (refreshes, scheduler) = (refreshes, virtual.scheduler)
    let login = AuthenticationInterceptor(
      for: [try XCTUnwrap(URL(string: "http://h"))], store: store, timeout: timeout
    ) { _ in
      refreshes.next()
      return refresh(scheduler)
    }
    return (virtual, virtual.network(login), login)
  }

  private static func after(_ delay: Duration, _ work: @escaping @Sendable () -> Token = { Token(access: "new") })
    -> @Sendable (TestScheduler) -> Single<Token>
  {
    { Single.just(()).delaySubscription(delay, scheduler: $0).map { work() } }
  }

  // MARK: The limits

  func test_waitForAnotherProcess_isNotPartOfTheLimitOfTheRefresh() throws {
    let store = Store(dead)
    let (virtual, network, _) = try network(store, refresh: Self.after(.seconds(1)))
    let held = try XCTUnwrap(store.lockForRefresh())
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.advanceTo(2490)
    held.dispose()
    virtual.scheduler.advanceTo(10_000)
    XCTAssertEqual(virtual.notes.all, ["200 ok @3500"])
    XCTAssertEqual(store.token.value?.access, "new")
  }

  func test_lateRefresh_failsTheCallers_andStoresItsTokenForLaterCalls() throws {
    let store = Store(dead)
    let (virtual, network, _) = try network(store, refresh: Self.after(.seconds(5)))
    virtual.note("1 ", network.responses(.get, "/x"))
    virtual.scheduler.advanceTo(4000)
    XCTAssertEqual(virtual.notes.all, ["1 timeout @3000"])
    XCTAssertTrue(store.isLocked.value, "another process must not use the same refresh token")
    virtual.note("2 ", network.responses(.get, "/x"))
    virtual.scheduler.advanceTo(5000)
    virtual.note("3 ", network.responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["1 timeout @3000", "2 200 ok @5000", "3 200 ok @5000"])
    XCTAssertEqual(refreshes.value, 1)
    XCTAssertEqual(store.token.value?.access, "new")
    XCTAssertFalse(store.isLocked.value)
  }

  func test_refreshThatNeverEnds_failsEachCallAfterTheLimit_untilTheSignIn() async throws {
    let store = Store(dead)
    let (virtual, network, login) = try network(store, accepts: ["b"]) { _ in .never() }
    for number in 1...2 {
      virtual.note("\(number) ", network.responses(.get, "/x"))
      virtual.scheduler.advanceBy(10_000)
    }
    XCTAssertEqual(virtual.notes.all, ["1 timeout @3000", "2 timeout @13000"])
    try await login.setToken(Token(access: "b"))
    virtual.note("3 ", network.responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all.last, "3 200 ok @20000")
  }

  func test_discardedRefreshThatNeverEnds_doesNotKeepTheLock() async throws {
    for (signIn, end) in [(500, "200 ok @3000"), (4000, "200 ok @4000")] {
      let store = Store(dead)
      let isFirst = Flag()
      let (virtual, network, login) = try network(store) { _ in
        isFirst.raise() ? .never() : .just(Token(access: "new"))
      }
      let waiting = network.responses(.get, "/x").asObservable().subscribe(onError: { _ in })
      virtual.scheduler.advanceTo(signIn)
      try await login.setToken(Token(access: "old", account: "bob"))
      virtual.note("", network.responses(.get, "/x"))
      virtual.scheduler.advanceTo(10_000)
      XCTAssertEqual(virtual.notes.all, [end])
      waiting.dispose()
    }
  }

  // MARK: What is saved

  func test_discardedRefreshThatSavesItsOwnToken_doesNotUndoASignOut() async throws {
    for next in [nil, Token(access: "b", account: "bob")] {
      let store = Store(dead)
      let (virtual, network, login) = try network(
        store,
        refresh: Self.after(.seconds(2)) {
          store.token.value = Token(access: "new", refresh: "r2")
          return Token(access: "new", refresh: "r2")
        })
      virtual.note("", network.responses(.get, "/x"))
      virtual.scheduler.advanceTo(500)
      try await login.setToken(next)
      virtual.scheduler.advanceTo(2000)
      XCTAssertTrue(holds { !store.isLocked.value })
      XCTAssertEqual(store.token.value, next)
    }
  }

  func test_discardedRefresh_doesNotUndoASignInOfAnotherProcess() async throws {
    let store = Store(dead)
    let (virtual, network, login) = try network(store, refresh: Self.after(.seconds(2)))
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.advanceTo(500)
    try await login.setToken(nil)
    store.token.value = Token(access: "other", account: "bob")
    virtual.scheduler.advanceTo(2000)
    XCTAssertTrue(holds { !store.isLocked.value })
    XCTAssertEqual(store.token.value?.access, "other")
  }

  func test_signOut_doesNotReturnBeforeAnOlderSaveHasEnded() async throws {
    let store = Store(dead)
    let (virtual, network, login) = try network(store, refresh: Self.after(.zero))
    store.closed.value = ["new"]
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(store.events.all, ["save new"])
    let hasReturned = Flag()
    let signOut = Task {
      try await login.setToken(nil)
      hasReturned.raise()
    }
    XCTAssertTrue(standsStill { store.events.all.count })
    XCTAssertFalse(hasReturned.isRaised)
    store.closed.value = []
    try await signOut.value
    XCTAssertEqual(store.events.all, ["save new", "saved new", "save none", "saved none"])
    XCTAssertNil(store.token.value)
  }

  func test_concurrentSaves_runOneAfterTheOther_andEndWithTheLastToken() async throws {
    let store = Store(dead)
    let (_, _, login) = try network(store, refresh: Self.after(.zero))
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<50 {
        group.addTask { try? await login.setToken(Token(access: "\(number)", account: "\(number)")) }
      }
    }
    let present = try await login.token
    XCTAssertEqual(store.token.value, present)
    let events = store.events.all
    XCTAssertTrue(events.count.isMultiple(of: 2))
    for place in stride(from: 0, to: events.count, by: 2) {
      XCTAssertEqual(events[place].replacing("save ", with: "saved "), events[place + 1])
    }
  }

  func test_signInThatCantBeSaved_leavesNoTokenOfTheFormerUser() async throws {
    for (account, isRead, left) in [("bob", true, nil), ("bob", false, nil), ("ann", true, "dead")] {
      let store = Store(dead)
      let (virtual, network, login) = try network(store, refresh: Self.after(.zero))
      if isRead { _ = try await login.token }
      store.isFull.value = true
      do {
        try await login.setToken(Token(access: "old", account: account))
        XCTFail("the sign-in was saved")
      } catch {
        XCTAssertTrue(error is TestError, "\(error)")
      }
      XCTAssertEqual(store.token.value?.access, left, "\(account) \(isRead)")
      // The new user stays signed in for this run, also after a refresh.
      virtual.note("", network.responses(.get, "/x"))
      virtual.scheduler.start()
      XCTAssertTrue(holds { virtual.notes.all.count == 1 })
      XCTAssertEqual(virtual.notes.all, ["200 ok @0"], "\(account) \(isRead)")
      let present = try await login.token
      XCTAssertEqual(present?.account, account)
    }
  }

  func test_signInThatCanNeitherBeSavedNorRemoveTheFormerUser_isNotThatUserAfterARefresh() async throws {
    let store = Store(dead)
    let (virtual, network, login) = try network(store, refresh: Self.after(.zero))
    store.isReadOnly.value = true
    do {
      try await login.setToken(Token(access: "old", account: "bob"))
      XCTFail("the sign-in was saved")
    } catch {}
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertTrue(holds { virtual.notes.all.count == 1 })
    XCTAssertEqual(virtual.notes.all, ["200 ok @0"])
    let present = try await login.token
    XCTAssertEqual(present?.account, "bob")
  }

  func test_signOutInAnotherProcess_isNotUndone_ifThisProcessHasOnlyWrittenTheStore() async throws {
    for former in [nil, dead] {
      let store = Store(former)
      let (virtual, network, login) = try network(store, refresh: Self.after(.zero))
      try await login.setToken(Token(access: "old", account: "bob"))
      XCTAssertTrue(standsStill { store.events.all.count })
      store.token.value = nil
      virtual.note("", network.responses(.get, "/x"))
      virtual.scheduler.start()
      XCTAssertTrue(holds { virtual.notes.all.count == 1 })
      XCTAssertEqual(virtual.notes.all, ["authentication @0"])
      XCTAssertNil(store.token.value)
      XCTAssertEqual(refreshes.value, 0)
    }
  }

  func test_discardedRefreshThatSavesItsTokenAndThenFails_doesNotUndoTheSignOut() async throws {
    let store = Store(dead)
    let (virtual, network, login) = try network(
      store,
      refresh: { scheduler in
        Single.just(()).delaySubscription(.seconds(2), scheduler: scheduler).map {
          store.token.value = Token(access: "new", account: "ann")
          throw TestError("the profile can't be read")
        }
      })
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.advanceTo(1000)
    try await login.setToken(nil)
    XCTAssertNil(store.token.value)
    virtual.scheduler.start()
    XCTAssertTrue(holds { store.token.value == nil }, "the next start is signed out")
    XCTAssertFalse(store.isLocked.value)
  }

  func test_signInDuringALoadThatDoesNotEnd_frees_whatWaitsForIt() async throws {
    let store = Store(nil)
    store.closed.value = ["load"]
    let (virtual, network, login) = try network(store, refresh: Self.after(.zero))
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.advanceTo(1000)
    XCTAssertEqual(virtual.notes.all, [])
    try await login.setToken(Token(access: "new", account: "ann"))
    XCTAssertTrue(
      holds {
        virtual.scheduler.start()
        return virtual.notes.all.count == 1
      })
    XCTAssertEqual(virtual.notes.all, ["authentication @1000"], "it may have begun as another user")
    store.closed.value = []
  }
}

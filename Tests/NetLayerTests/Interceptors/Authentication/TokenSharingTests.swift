import Foundation
import HTTPTransport
import NetLayer
import Streams
import StreamsTesting
import TestSupport
import XCTest

/// Tokens with clock differences, with short lifetimes, and shared by several processes.
final class TokenSharingTests: XCTestCase {
  private let refreshes = Notes()

  private func network(
    _ virtual: VirtualNetwork, _ store: any TokenStore, max: Int = 5,
    refresh: @escaping AuthenticationInterceptor.Refresh
  ) throws -> (Network, AuthenticationInterceptor) {
    let refreshes = refreshes
    let authentication = AuthenticationInterceptor(
      for: [try XCTUnwrap(URL(string: "http://h"))], store: store, maxRefreshes: max
    ) { old in
      refreshes.add(old?.access ?? "none")
      return try refresh(old)
    }
    return (virtual.network(authentication), authentication)
  }

  private func calls(_ count: Int, every step: Int, _ virtual: VirtualNetwork, _ network: Network) {
    for _ in 0..<count {
      virtual.note("", network.responses(.get, "/x"))
      virtual.scheduler.advanceBy(step)
    }
  }

  // MARK: Clocks

  func test_clockAhead_causesNoRefreshOfValidTokens() throws {
    let virtual = VirtualNetwork(.json("ok"))
    let past = virtual.scheduler.now.addingTimeInterval(-600)
    let (network, _) = try network(virtual, MemoryTokenStore(Token(access: "old", expiresAt: past))) { _ in
      .just(Token(access: "new", expiresAt: past))
    }
    calls(10, every: 1000, virtual, network)
    XCTAssertEqual(virtual.notes.all.filter { $0.hasPrefix("200 ok") }.count, 10, "\(virtual.notes.all)")
    XCTAssertEqual(refreshes.all, ["old"], "the first, as nobody knows when it was got; then the server decides")
  }

  func test_tokensShorterThanTheLeeway_areRefreshedAtHalfTheirLifetime() throws {
    let virtual = VirtualNetwork { request in
      .json(request.headers["Authorization"] ?? "none", status: request.headers["Authorization"] == nil ? 401 : 200)
    }
    let number = Counter()
    let scheduler = virtual.scheduler
    let (network, _) = try network(virtual, MemoryTokenStore()) { _ in
      .just(Token(access: "\(number.next())", expiresAt: scheduler.now.addingTimeInterval(10)))
    }
    calls(31, every: 2000, virtual, network)
    XCTAssertEqual(
      virtual.notes.all.prefix(5),
      ["200 Bearer 1 @0", "200 Bearer 1 @2000", "200 Bearer 1 @4000", "200 Bearer 2 @6000", "200 Bearer 2 @8000"])
    XCTAssertEqual(virtual.notes.all.count, 31)
    XCTAssertFalse(virtual.notes.all.contains { !$0.hasPrefix("200") }, "\(virtual.notes.all)")
    XCTAssertGreaterThan(number.value, 5, "more than maxRefreshes, as each was of help")
  }

  func test_newTokenOfAnHour_isRefreshedOneLeewayBeforeItsExpiry() throws {
    let virtual = VirtualNetwork(.json("ok"))
    let (network, authentication) = try network(virtual, MemoryTokenStore()) { _ in .just(Token(access: "new")) }
    authentication.set(Token(access: "hour", expiresAt: virtual.scheduler.now.addingTimeInterval(3600)))
    virtual.scheduler.advanceTo(3_569_999)
    virtual.note("", network.responses(.get, "/x"))
    XCTAssertEqual(refreshes.all, [])
    virtual.scheduler.advanceTo(3_570_000)
    virtual.note("", network.responses(.get, "/x"))
    XCTAssertEqual(refreshes.all, ["hour"])
  }

  // MARK: Refreshes without success

  func test_successfulRefreshes_areNotCounted() throws {
    // Each token is valid for one request.
    let used = Locked<Set<String>>([])
    let virtual = VirtualNetwork { request in
      let token = request.headers["Authorization"] ?? ""
      return used.withLock { $0.insert(token).inserted } && token != "Bearer old"
        ? .json("ok") : .json("who?", status: 401)
    }
    let number = Counter()
    let (network, _) = try network(virtual, MemoryTokenStore(Token(access: "old")), max: 2) { _ in
      .just(Token(access: "\(number.next())"))
    }
    calls(10, every: 1, virtual, network)
    XCTAssertEqual(virtual.notes.all.filter { $0.hasPrefix("200 ok") }.count, 10, "\(virtual.notes.all)")
  }

  func test_rejectedRefreshes_areCounted_butNotThoseWithoutNetwork() throws {
    for (kind, expected, shown) in [
      (NetworkError.Kind.status, 2, "authentication"), (.connection, 6, "connection"), (.timeout, 6, "timeout"),
    ] {
      let virtual = VirtualNetwork(.json("who?", status: 401))
      let count = Counter()
      let (network, _) = try network(virtual, MemoryTokenStore(Token(access: "old")), max: 2) { _ in
        count.next()
        throw NetworkError(kind: kind, reason: "invalid_grant")
      }
      calls(6, every: 1, virtual, network)
      XCTAssertEqual(count.value, expected, "\(kind)")
      XCTAssertEqual(Set(virtual.notes.all.map { $0.prefix { $0 != " " } }), [shown[...]])
    }
  }

  func test_many401sWithOneNewToken_countAsOneRefresh() throws {
    let virtual = VirtualNetwork(.json("who?", status: 401, after: .seconds(1)))
    let (network, _) = try network(virtual, MemoryTokenStore(Token(access: "old")), max: 2) { _ in
      .just(Token(access: "new"))
    }
    for _ in 0..<20 { virtual.note("", network.responses(.get, "/x")) }
    virtual.scheduler.start()
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(Set(virtual.notes.all.map { $0.prefix(3) }), ["401"], "the second refresh is within the limit")
  }

  // MARK: A store shared by several processes

  /// A server with rotating refresh tokens (RFC 9700 §4.14.2), each of which can be used once.
  private final class RotatingServer: Sendable {
    private let state = Locked((number: 0, used: Set<String>()))

    func token() -> Token {
      let number = state.withLock { state in
        state.number += 1
        return state.number
      }
      return Token(access: "a\(number)", refresh: "r\(number)")
    }

    func refresh(_ old: Token?) throws -> Token {
      let isNew = state.withLock { $0.used.insert(old?.refresh ?? "none").inserted }
      guard isNew else { throw NetworkError(kind: .status, code: 400, reason: "invalid_grant") }
      return token()
    }

    func takes(_ authorization: String?) -> Bool { authorization == "Bearer a\(state.withLock { $0.number })" }
  }

  private func sharedFile() throws -> URL {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("tokens-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    addTeardownBlock { try? FileManager.default.removeItem(at: directory) }
    return directory.appendingPathComponent("token")
  }

  func test_twoProcessesWithOneFile_useEachOthersTokens() throws {
    let server = RotatingServer()
    let virtual = VirtualNetwork {
      server.takes($0.headers["Authorization"]) ? .json("ok") : .json("who?", status: 401)
    }
    let file = try sharedFile()
    try FileTokenStore(storingIn: file).save(server.token())
    let (one, _) = try network(virtual, FileTokenStore(storingIn: file)) { .just(try server.refresh($0)) }
    let (two, _) = try network(virtual, FileTokenStore(storingIn: file)) { .just(try server.refresh($0)) }
    for round in 0..<6 {
      calls(1, every: 1, virtual, one)
      calls(1, every: 1, virtual, two)
      // From here on, the server rejects the token that both have.
      if round % 2 == 0 {
        try FileTokenStore(storingIn: file).save(try server.refresh(FileTokenStore(storingIn: file).load()))
      }
    }
    XCTAssertEqual(virtual.notes.all.filter { $0.hasPrefix("200 ok") }.count, 12, "\(virtual.notes.all)")
    XCTAssertEqual(refreshes.all, [], "the file always had the newest")
  }

  func test_twoProcessesWithConcurrent401s_causeOneRefresh() throws {
    let server = RotatingServer()
    let virtual = VirtualNetwork {
      server.takes($0.headers["Authorization"]) ? .json("ok") : .json("who?", status: 401)
    }
    let file = try sharedFile()
    try FileTokenStore(storingIn: file).save(Token(access: "dead", refresh: "r"))
    for index in 0..<2 {
      let (network, _) = try network(virtual, FileTokenStore(storingIn: file)) { old in
        virtual.scheduler.runs(after: .seconds(1)) { try server.refresh(old) }
      }
      virtual.note("\(index) ", network.responses(.get, "/x"))
    }
    virtual.scheduler.advanceTo(5000)
    XCTAssertEqual(refreshes.all, ["dead"])
    XCTAssertEqual(virtual.notes.all, ["0 200 ok @1000", "1 200 ok @1000"])
  }

  func test_lockHeldForeverByAnotherProcess_isNotAwaitedForever() throws {
    let virtual = VirtualNetwork(.json("who?", status: 401))
    let store = FileTokenStore(storingIn: try sharedFile())
    let lock = try XCTUnwrap(try store.lockForRefresh())
    XCTAssertNil(try store.lockForRefresh())
    let (network, _) = try network(virtual, store) { _ in .just(Token(access: "new")) }
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.advanceTo(59_999)
    XCTAssertEqual(virtual.notes.all, [])
    virtual.scheduler.advanceTo(60_000)
    XCTAssertEqual(virtual.notes.all, ["timeout @60000"])
    lock.dispose()
    XCTAssertNotNil(try store.lockForRefresh())
  }

  func test_signOutInAnotherProcess_isNotUndoneByARefresh() throws {
    let virtual = VirtualNetwork(.json("who?", status: 401))
    let file = try sharedFile()
    try FileTokenStore(storingIn: file).save(Token(access: "dead", refresh: "r", account: "ann"))
    let (network, authentication) = try network(virtual, FileTokenStore(storingIn: file)) { _ in
      virtual.scheduler.runs(after: .seconds(1)) { Token(access: "new") }
    }
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.advanceTo(500)
    try FileTokenStore(storingIn: file).save(nil)
    virtual.scheduler.advanceTo(5000)
    XCTAssertNil(try FileTokenStore(storingIn: file).load(), "the refreshed token is not saved")
    XCTAssertEqual(virtual.notes.all, ["authentication @1000"])
    XCTAssertNil(authentication.present?.account)
  }

  func test_signInInAnotherProcess_isNotUndoneByARefresh() throws {
    let virtual = VirtualNetwork { request in
      request.headers["Authorization"] == "Bearer other" ? .json("ok") : .json("who?", status: 401)
    }
    let file = try sharedFile()
    try FileTokenStore(storingIn: file).save(Token(access: "dead", refresh: "r", account: "ann"))
    let (network, authentication) = try network(virtual, FileTokenStore(storingIn: file)) { _ in
      virtual.scheduler.runs(after: .seconds(1)) { Token(access: "new") }
    }
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.advanceTo(500)
    try FileTokenStore(storingIn: file).save(Token(access: "other", account: "bob"))
    virtual.scheduler.advanceTo(5000)
    XCTAssertEqual(try FileTokenStore(storingIn: file).load()?.access, "other")
    XCTAssertEqual(virtual.notes.all, ["401 who? @1000"], "the call of one user is not sent as the other")
    XCTAssertEqual(authentication.present?.account, "bob")
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all.last, "200 ok @5000")
  }

  func test_refreshThatSavesItsTokenItself_keepsTheAccount() throws {
    let virtual = VirtualNetwork { request in
      request.headers["Authorization"] == "Bearer new" ? .json("ok") : .json("who?", status: 401)
    }
    let store = MemoryTokenStore(Token(access: "dead", account: "ann"))
    let (network, authentication) = try network(virtual, store) { _ in
      let new = Token(access: "new")
      store.save(new)
      return .just(new)
    }
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["200 ok @0"])
    XCTAssertEqual(authentication.present?.account, "ann")
    XCTAssertEqual(store.load()?.account, "ann")
  }

  func test_signOut_waitsForTheSaveOfARefreshInAnotherProcess() async throws {
    let store = LockedStore(Token(access: "dead", refresh: "r"))
    let authentication = AuthenticationInterceptor(
      for: [try XCTUnwrap(URL(string: "http://h"))], store: store
    ) { _ in Token(access: "new") }
    let held = try XCTUnwrap(store.lockForRefresh())
    let signOut = Task { try await authentication.setToken(nil) }
    XCTAssertTrue(holds { store.attempts.value > 1 })
    XCTAssertEqual(store.saved.all, [], "the other process may be about to save")
    store.save(Token(access: "renewed"))
    held.dispose()
    try await signOut.value
    XCTAssertEqual(store.saved.all, ["renewed", "none"])
    XCTAssertNotNil(store.lockForRefresh(), "the lock is released")
  }

  func test_signOut_doesNotWaitForItsOwnRefresh_andIsNotUndoneByIt() async throws {
    let virtual = VirtualNetwork(.json("who?", status: 401))
    let store = LockedStore(Token(access: "dead", refresh: "r"))
    let (network, authentication) = try network(virtual, store) { _ in
      virtual.scheduler.runs(after: .seconds(1)) { Token(access: "new") }
    }
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.advanceTo(500)
    try await authentication.setToken(nil)
    XCTAssertEqual(store.saved.all, ["none"])
    XCTAssertEqual(store.attempts.value, 1, "the refresh has the lock")
    virtual.scheduler.advanceTo(5000)
    XCTAssertEqual(store.saved.all, ["none"])
    XCTAssertNotNil(store.lockForRefresh(), "the discarded refresh has released the lock")
  }

  func test_refreshThatWaitsForAnotherProcess_doesNotBeginAfterASignIn() async throws {
    let virtual = VirtualNetwork(.json("who?", status: 401))
    let store = LockedStore(Token(access: "dead", refresh: "r"))
    let (network, authentication) = try network(virtual, store) { _ in .just(Token(access: "new")) }
    let held = try XCTUnwrap(store.lockForRefresh())
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.advanceTo(500)
    let waiting = store.attempts.value
    XCTAssertGreaterThan(waiting, 5)
    let signIn = Task { try await authentication.setToken(Token(access: "other")) }
    XCTAssertTrue(holds { store.attempts.value > waiting })
    XCTAssertEqual(virtual.notes.all, ["401 who? @500"])
    held.dispose()
    try await signIn.value
    virtual.scheduler.advanceTo(5000)
    XCTAssertEqual(refreshes.all, [])
    XCTAssertEqual(store.saved.all, ["other"])
    XCTAssertNotNil(store.lockForRefresh(), "the lock is released")
  }

  func test_requestDuringASignOut_doesNotLoadTheTokenOfAnotherProcess() async throws {
    let virtual = VirtualNetwork(.json("who?", status: 401))
    let store = LockedStore(Token(access: "dead", refresh: "r"))
    let (network, authentication) = try network(virtual, store) { _ in throw TestError() }
    let held = try XCTUnwrap(store.lockForRefresh())
    let signOut = Task { try await authentication.setToken(nil) }
    XCTAssertTrue(holds { store.attempts.value > 1 })
    virtual.note("", network.responses(.get, "/x"))
    store.save(Token(access: "renewed"))
    store.opens.withLock { $0 = true }
    virtual.scheduler.advanceTo(5000)
    XCTAssertEqual(virtual.notes.all.map { $0.prefix(14) }, ["authentication"])
    XCTAssertEqual(refreshes.all, ["none"], "no token is adopted")
    held.dispose()
    try await signOut.value
    XCTAssertEqual(store.saved.all, ["renewed", "none"])
  }

  func test_signOut_waitsAtMost5SecondsForAnotherProcess_thenSaves() async throws {
    let store = LockedStore(Token(access: "old", refresh: "r"))
    let authentication = AuthenticationInterceptor(
      for: [try XCTUnwrap(URL(string: "http://h"))], store: store
    ) { _ in Token(access: "new") }
    let held = try XCTUnwrap(store.lockForRefresh())
    try await authentication.setToken(nil)
    // One every 50 ms.
    XCTAssertEqual(store.attempts.value - 1, 100)
    XCTAssertEqual(store.saved.all, ["none"])
    held.dispose()
  }

  /// A store in memory whose lock behaves as that of a file.
  private final class LockedStore: TokenStore {
    private let token: Locked<Token?>
    private let isLocked = Locked(false)
    /// If `true`, every request for the lock succeeds.
    let opens = Locked(false)
    let attempts = Counter()
    let saved = Notes()

    init(_ token: Token?) { self.token = Locked(token) }

    func load() -> Token? { token.withLock { $0 } }

    func save(_ token: Token?) {
      saved.add(token?.access ?? "none")
      self.token.withLock { $0 = token }
    }

    func lockForRefresh() -> (any Disposable)? {
      attempts.next()
      if opens.withLock({ $0 }) { return Disposables.create() }
      guard !isLocked.withLock({ exchange(&$0, with: true) }) else { return nil }
      return Disposables.create { [self] in isLocked.withLock { $0 = false } }
    }
  }

  func test_storeThatCannotSave_doesNotRestoreTheOldToken() throws {
    final class FullDisk: TokenStore {
      func load() -> Token? { Token(access: "dead", refresh: "r0") }
      func save(_ token: Token?) throws { throw TestError("full") }
    }
    let server = RotatingServer()
    let virtual = VirtualNetwork {
      server.takes($0.headers["Authorization"]) ? .json("ok") : .json("who?", status: 401)
    }
    let (network, _) = try network(virtual, FullDisk()) { .just(try server.refresh($0)) }
    calls(1, every: 1, virtual, network)
    _ = server.token()
    calls(1, every: 1, virtual, network)
    XCTAssertEqual(refreshes.all, ["dead", "a1"], "the one in memory, not the one that the disk still has")
    XCTAssertEqual(virtual.notes.all, ["200 ok @0", "200 ok @1"])
  }

  func test_expiredTokenOfAnotherProcess_isRefreshed() throws {
    let server = RotatingServer()
    let virtual = VirtualNetwork {
      server.takes($0.headers["Authorization"]) ? .json("ok") : .json("who?", status: 401)
    }
    let store = MemoryTokenStore(Token(access: "dead", refresh: "r"))
    let (network, _) = try network(virtual, store) { .just(try server.refresh($0)) }
    calls(1, every: 1, virtual, network)
    store.save(Token(access: "over", refresh: "newer", expiresAt: virtual.scheduler.now.addingTimeInterval(-1)))
    _ = server.token()
    calls(1, every: 1, virtual, network)
    XCTAssertEqual(refreshes.all, ["dead", "over"])
  }

  func test_fileStore_isReadableOnlyByItsOwner() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("token-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    let store = FileTokenStore(storingIn: file)
    XCTAssertNil(try store.load())
    let token = Token(access: "a", refresh: "r", expiresAt: Date(timeIntervalSinceReferenceDate: 5))
    try store.save(token)
    XCTAssertEqual(try FileTokenStore(storingIn: file).load(), token)
    let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
    XCTAssertEqual(mode, 0o600)
    try Data("no token".utf8).write(to: file)
    XCTAssertThrowsError(try store.load()) { error in
      XCTAssertEqual((error as? NetworkError)?.kind, .file)
      XCTAssertTrue("\(error)".contains(file.path), "\(error)")
    }
    try store.save(nil)
    XCTAssertFalse(FileManager.default.fileExists(atPath: file.path))
    XCTAssertEqual("\(token)".contains("r,"), false)
  }

  func test_fileStore_refusesATokenThatAnotherUserCanWrite_andADamagedOne() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("token-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    let store = FileTokenStore(storingIn: file)
    try store.save(Token(access: "a"))
    try FileManager.default.setAttributes([.posixPermissions: 0o660], ofItemAtPath: file.path)
    XCTAssertThrowsError(try store.load()) { XCTAssertTrue("\($0)".contains("another user can write to it"), "\($0)") }
    try store.save(Token(access: "b"))
    var bytes = try Data(contentsOf: file)
    bytes[bytes.count - 3] ^= 1
    try bytes.write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    XCTAssertThrowsError(try store.load()) { XCTAssertTrue("\($0)".contains("it is damaged"), "\($0)") }
  }

  // MARK: A new token of the same user

  func test_tokenReplacedForTheSameUser_retriesTheRejectedRequest() throws {
    let virtual = VirtualNetwork { request in
      request.headers["Authorization"] == "Bearer new" ? .json("ok") : .json("who?", status: 401, after: .seconds(1))
    }
    let (network, authentication) = try network(virtual, MemoryTokenStore(Token(access: "old", account: "ann"))) { _ in
      throw TestError()
    }
    virtual.note("", network.responses(.get, "/x"))
    virtual.scheduler.advanceTo(500)
    authentication.set(Token(access: "new", account: "ann"))
    virtual.scheduler.start()
    XCTAssertEqual(virtual.notes.all, ["200 ok @1000"])
    XCTAssertEqual(refreshes.all, [])
  }
}

extension TestScheduler {
  /// Runs `work` after `delay` and emits its result.
  fileprivate func runs<Element: Sendable>(
    after delay: Duration, _ work: @escaping @Sendable () throws -> Element
  ) -> Single<Element> {
    Single.just(()).delaySubscription(delay, scheduler: self).map(work)
  }
}

import Foundation
import StreamsTesting
import XCTest

@testable import NetLayer

/// Schedules that random ones have found, one event after the other.
final class TokenStateTests: XCTestCase {
  private let now = Date(timeIntervalSince1970: 1000)
  private var state = TokenState(leeway: 30, maxRefreshes: 5, window: 60)

  private func token(_ access: String, _ account: String = "ann") -> Token { Token(access: access, account: account) }

  /// Handles an event, and returns the actions in short.
  @discardableResult
  private func handle(_ event: TokenState.Event) -> [String] {
    state.handle(event, at: now).compactMap { action in
      switch action {
      case .write(let token): "write \(token?.access ?? "none")"
      case .refresh(_, let old): "refresh \(old?.access ?? "none")"
      case .read: "read"
      case .lock: "lock"
      case .unlock: "unlock"
      default: nil
      }
    }
  }

  override func setUp() {
    handle(.need(state.newID()))
    handle(.loaded(.success(token("a"))))
  }

  /// Starts a refresh whose closure runs, and returns its number.
  private func ask(reading found: Result<Token?, any Error>, isLocked: Bool = true) throws -> Int {
    handle(.renew(state.newID(), state.session))
    let id = try XCTUnwrap(state.current)
    handle(.locked(id, isLocked ? .success(true) : .failure(TestError("no locks here"))))
    handle(.read(id, found))
    return id
  }

  func test_storeThatCantBeReadBeforeARefresh_isReadAfterIt() throws {
    let id = try ask(reading: .failure(TestError("locked")))
    XCTAssertEqual(handle(.refreshed(id, .success(token("b")))), ["read"])
    XCTAssertEqual(handle(.read(id, .success(token("x", "bob")))), ["unlock"])
    XCTAssertEqual(state.session.token?.access, "x", "a sign-in in another process is not undone")
  }

  func test_refreshBesideASignInThatIsBeingSaved_doesNotReadTheStore() throws {
    XCTAssertEqual(handle(.set(token("s", "bob"), state.newID())), ["lock"])
    XCTAssertEqual(handle(.locked(0, .success(true))), ["write s"])
    handle(.renew(state.newID(), state.session))
    let id = try XCTUnwrap(state.current)
    // The store still has the former user, perhaps with a token that another process has refreshed.
    XCTAssertEqual(handle(.locked(id, .success(true))), ["refresh s"])
    XCTAssertEqual(handle(.refreshed(id, .success(token("t", "bob")))), [])
    XCTAssertEqual(handle(.written(.success(()))).filter { $0 != "unlock" }, ["write t"])
    XCTAssertEqual(state.session.token?.access, "t")
  }

  func test_ownTokenThatIsSavedDuringTheNextRefresh_isNotThatOfAnotherProcess() throws {
    let first = try ask(reading: .success(token("a")))
    handle(.refreshed(first, .success(token("b"))))
    XCTAssertEqual(handle(.read(first, .success(token("a")))), ["write b"])
    // The store has no lock, and is slow.
    let second = try ask(reading: .success(token("a")), isLocked: false)
    handle(.refreshed(second, .success(token("c"))))
    handle(.read(second, .success(token("b"))))
    XCTAssertEqual(state.session.token?.access, "c")
    XCTAssertEqual(handle(.written(.success(()))), ["unlock", "write c"])
  }

  func test_ownTokenThatIsSavedLate_doesNotReplaceALaterOne() throws {
    let first = try ask(reading: .success(token("a")))
    handle(.refreshed(first, .success(token("b"))))
    handle(.read(first, .success(token("a"))))
    let second = try ask(reading: .success(token("a")), isLocked: false)
    handle(.refreshed(second, .success(token("c"))))
    handle(.read(second, .success(token("a"))))
    handle(.renew(state.newID(), state.session))
    let third = try XCTUnwrap(state.current)
    handle(.locked(third, .failure(TestError("no locks here"))))
    XCTAssertEqual(handle(.read(third, .success(token("b")))), ["refresh c"])
  }

  func test_discardedRefreshThatFails_leavesTheStore_unlessItHasTheLock() throws {
    for isLate in [false, true] {
      state = TokenState(leeway: 30, maxRefreshes: 5, window: 60)
      setUp()
      let id = try ask(reading: .success(token("a")))
      XCTAssertEqual(handle(.set(token("x", "bob"), state.newID())), ["write x"])
      handle(.written(.success(())))
      if isLate { XCTAssertEqual(handle(.limit(id)), ["unlock"]) }
      XCTAssertEqual(handle(.refreshed(id, .failure(.ofRefresh(TestError("profile"))))), ["read"])
      // Saved by the closure, or by another process after the lock was released.
      let actions = handle(.read(id, .success(token("b"))))
      XCTAssertEqual(actions, isLate ? [] : ["write x"])
    }
  }

  func test_slowWrite_keepsTheLockBeyondTheLimit() throws {
    let id = try ask(reading: .success(token("a")))
    handle(.refreshed(id, .success(token("b"))))
    XCTAssertEqual(handle(.read(id, .success(token("a")))), ["write b"])
    XCTAssertEqual(handle(.limit(id)), [])
    XCTAssertEqual(handle(.written(.success(()))), ["unlock"])
  }

  func test_slowWrite_thatEndsAfterATokenOfAnotherProcess_isNotTheLatest() throws {
    let first = try ask(reading: .success(token("a")))
    handle(.refreshed(first, .success(token("b"))))
    handle(.read(first, .success(token("a"))))
    _ = try ask(reading: .success(token("c")), isLocked: false)
    XCTAssertEqual(state.session.token?.access, "c")
    handle(.written(.success(())))
    XCTAssertEqual(state.stored?.access, "c")
    XCTAssertEqual(state.written, state.version)
  }

  func test_refreshThatWaitsForASlowWrite_endsWithIt_ifATokenOfAnotherProcessWasFoundMeanwhile() throws {
    let first = try ask(reading: .success(token("a")), isLocked: false)
    handle(.refreshed(first, .success(token("b"))))
    handle(.read(first, .success(token("a"))))
    let second = try ask(reading: .success(token("a")))
    handle(.refreshed(second, .success(token("c"))))
    handle(.read(second, .success(token("a"))))
    _ = try ask(reading: .success(token("d")), isLocked: false)
    XCTAssertEqual(handle(.written(.success(()))), ["unlock"])
    XCTAssertTrue(state.refreshes.isEmpty)
  }

  func test_signOutInAnotherProcess_ofANobody_isNoChangeOfTheUser() throws {
    handle(.set(nil, state.newID()))
    handle(.locked(0, .success(true)))
    handle(.written(.success(())))
    let generation = state.session.generation
    let over = Token(access: "o", expiresAt: now.addingTimeInterval(-1))
    let id = try ask(reading: .success(over))
    handle(.refreshed(id, .success(token("b"))))
    handle(.read(id, .success(nil)))
    XCTAssertNil(state.session.token)
    XCTAssertEqual(state.session.generation, generation)
  }
}

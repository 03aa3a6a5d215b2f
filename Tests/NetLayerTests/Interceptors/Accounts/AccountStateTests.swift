import XCTest

@testable import NetLayer

/// The table of states: the changes after which another user is signed in.
final class AccountStateTests: XCTestCase {
  func test_states_ofASourceThatCountsSignIns() {
    func state(_ user: AccountState.User, _ signIns: Int) -> AccountState { AccountState(user, signIns: signIns) }
    let rows: [(AccountState, AccountState, Bool)] = [
      (state(.nobody, 0), state(.named("ann"), 1), true),
      (state(.named("ann"), 1), state(.nobody, 2), true),
      (state(.named("ann"), 1), state(.named("bob"), 2), true),
      (state(.named("ann"), 1), state(.named("ann"), 3), false),
      (state(.named("ann"), 1), state(.named("bob"), 1), true),
      (state(.unknown, 0), state(.named("ann"), 0), false),
      (state(.unknown, 0), state(.nobody, 0), false),
      // A sign-in before the first look: the store may have had another user.
      (state(.unknown, 0), state(.named("ann"), 1), true),
      (state(.unnamed("t1"), 1), state(.unnamed("t2"), 1), false),
      (state(.unnamed("t1"), 1), state(.unnamed("t2"), 2), true),
      (state(.unnamed("t1"), 1), state(.unnamed("t1"), 2), true),
      // A refresh states the name of the present user.
      (state(.unnamed("t1"), 1), state(.named("ann"), 1), false),
      // The first token of a program that nobody signs in to.
      (state(.nobody, 0), state(.unnamed("t1"), 0), false),
    ]
    for (former, present, differs) in rows {
      XCTAssertEqual(present.differs(from: former), differs, "\(former.user) to \(present.user)")
    }
  }

  func test_states_ofOtherSources() {
    let states: [AccountState] = [.unknown, .nobody, .user("ann"), .user("bob")]
    for former in states {
      for present in states {
        let differs = former != present && former != .unknown && present != .unknown
        XCTAssertEqual(present.differs(from: former), differs, "\(former.user) to \(present.user)")
      }
    }
  }

  func test_states_areComparedByTheirUser() {
    XCTAssertEqual(AccountState(.named("ann"), signIns: 4), .user("ann"))
    XCTAssertNotEqual(AccountState.user("ann"), .user("bob"))
    XCTAssertEqual(Set([AccountState(.nobody, signIns: 1), .nobody, .user("ann"), .user("ann")]).count, 2)
    XCTAssertNotEqual(AccountState.unknown.account, AccountState.unknown.account, "a text that no other request has")
  }
}

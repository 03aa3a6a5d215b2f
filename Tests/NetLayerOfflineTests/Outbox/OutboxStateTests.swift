import Foundation
import XCTest

@testable import NetLayer
@testable import NetLayerOffline

/// Single transitions of the state machine, which random schedules meet rarely or can't see.
final class OutboxStateTests: XCTestCase {
  private let names = (1...3).map { OutboxName(UInt64($0), UUID()) }
  private let down = NetworkError(kind: .status, reason: "503")
  private let lost = NetworkError(kind: .connection, reason: "lost")
  private let home = URL(string: "http://h") ?? URL(filePath: "/")

  /// Returns a machine with `items`, which are all that is in the directory, and its actions.
  private func machine(_ items: [OutboxState.Item]) -> (OutboxState, [OutboxState.Action]) {
    let retry = RetryPolicy(attempts: 2, initialDelay: .seconds(1), jitter: { $0.upperBound })
    var state = OutboxState(concurrency: 4, retry: retry)
    _ = state.handle(.online(true), at: .zero)
    let actions = state.handle(.list(items, isOwner: true), at: .zero)
    return (state, actions)
  }

  func test_outbox_earlierEntryOfAnotherProcess_waitsForTheOneInFlight() {
    var (state, actions) = machine([.init(names[1], key: "k")])
    XCTAssertEqual(actions, [.start(names[1])])
    XCTAssertEqual(state.handle(.add([.init(names[0], key: "k")]), at: .zero), [])
    XCTAssertEqual(state.handle(.end(names[1], .accepted), at: .zero), [.report(names[1])])
    XCTAssertEqual(state.handle(.reported(names[1]), at: .zero), [.remove(names[1]), .start(names[0])])
  }

  func test_outbox_earlierEntryOfAnotherProcess_isSentAfterTheFailureOfTheOneInFlight() {
    var (state, _) = machine([.init(names[1], key: "k")])
    _ = state.handle(.add([.init(names[0], key: "k")]), at: .zero)
    XCTAssertEqual(state.handle(.end(names[1], .failed(down)), at: .zero), [.start(names[0])])
  }

  func test_outbox_refusalOfARefreshedToken_waitsForASignIn() {
    var (state, _) = machine([.init(names[0], account: "a")])
    // The refresh, which is not a sign-in.
    _ = state.handle(.account("a"), at: .zero)
    XCTAssertEqual(state.handle(.end(names[0], .refused), at: .zero), [])
    XCTAssertEqual(state.states(isElsewhere: false).map(\.state), [.waitingForSignIn])
    XCTAssertEqual(state.handle(.account("a"), at: .zero), [.start(names[0])])
  }

  func test_outbox_rejectionOfANewToken_isARefusal_asLongAsTheTokenIsCurrent() {
    let login = AuthenticationInterceptor(for: [home], store: MemoryTokenStore()) { _ in throw CancellationError() }
    var response = Response(request: Request(url: home), status: 401)
    func outcome() -> OutboxState.Outcome { .init(.success(response), rejectedBy: [login], now: Date()) }
    guard case .unauthenticated = outcome() else { return XCTFail("\(outcome())") }
    response.context[Refusal.self] = { false }
    guard case .unauthenticated = outcome() else { return XCTFail("\(outcome())") }
    response.context[Refusal.self] = { true }
    guard case .refused = outcome() else { return XCTFail("\(outcome())") }
  }

  func test_outbox_states_areInTheOrderOfSend_whateverTheOrderOfAListing() {
    let names = (1...6).map { OutboxName(UInt64($0), UUID()) }
    var state = OutboxState(concurrency: 4, retry: RetryPolicy())
    func listed() -> [UInt64] { state.states(isElsewhere: false).map(\.name.number) }
    _ = state.handle(.list([5, 1, 3].map { .init(names[$0]) }, isOwner: false), at: .zero)
    XCTAssertEqual(listed(), [2, 4, 6])
    _ = state.handle(.add([4, 0, 2].map { .init(names[$0]) }), at: .zero)
    XCTAssertEqual(listed(), [1, 2, 3, 4, 5, 6])
    XCTAssertEqual(state.handle(.drop(names[2]), at: .zero), [.remove(names[2])])
    XCTAssertEqual(listed(), [1, 2, 4, 5, 6])
  }

  func test_outbox_entryThatAnotherProcessParkedAndRetried_doesNotWaitForItsFormerDelay() {
    var (state, _) = machine([.init(names[0], key: "k")])
    _ = state.handle(.end(names[0], .failed(down)), at: .zero)
    _ = state.handle(.disown, at: .zero)
    _ = state.handle(.list([.init(names[0], key: "k", hold: .parked(status: 400))], isOwner: false), at: .zero)
    XCTAssertEqual(state.handle(.list([.init(names[0], key: "k")], isOwner: true), at: .zero), [.start(names[0])])
  }

  func test_outbox_unreadableEntry_holdsOnlyKeys() {
    let (_, actions) = machine([
      .init(names[0], hold: .unreadable), .init(names[1], key: "k"), .init(names[2]),
    ])
    XCTAssertEqual(actions, [.start(names[2])])
  }

  func test_outbox_unreadableEntry_thatIsListedAgain_holdsKeysUntilItCanBeRead() {
    var (state, actions) = machine([.init(names[0], hold: .unreadable), .init(names[1], key: "k")])
    XCTAssertEqual(actions, [])
    XCTAssertEqual(state.handle(.add([.init(names[0], hold: .unreadable)]), at: .zero), [])
    XCTAssertEqual(state.handle(.add([.init(names[2], key: "k")]), at: .zero), [], "it is still unreadable")
    XCTAssertEqual(state.handle(.add([.init(names[0], key: "k")]), at: .zero), [.start(names[0])])
    XCTAssertEqual(state.handle(.end(names[0], .accepted), at: .zero), [.report(names[0])])
    XCTAssertEqual(state.handle(.reported(names[0]), at: .zero), [.remove(names[0]), .start(names[1])])
  }

  func test_outbox_failures_parkAfterTheAttempts_lossesDoNotCount() {
    var (state, _) = machine([.init(names[0])])
    for second in 0..<20 {
      let now = Duration.seconds(100 * second)
      XCTAssertEqual(state.handle(.end(names[0], .unreachable(lost)), at: now), [])
      XCTAssertEqual(state.handle(.wake, at: now + .seconds(50)), [.start(names[0])])
    }
    XCTAssertEqual(state.handle(.end(names[0], .failed(down)), at: .seconds(3000)), [])
    XCTAssertEqual(state.handle(.wake, at: .seconds(3001)), [.start(names[0])])
    // A retry of an entry in flight changes nothing.
    XCTAssertEqual(state.handle(.retry(names[0]), at: .seconds(3001)), [])
    XCTAssertEqual(state.handle(.end(names[0], .failed(down)), at: .seconds(3001)), [.report(names[0])])
    XCTAssertEqual(
      state.handle(.reported(names[0]), at: .seconds(3001)), [.park(names[0], status: nil)])
  }

  func test_outbox_refusalBeforeASignIn_isSentAgain() {
    var (state, _) = machine([.init(names[0], account: "a")])
    XCTAssertEqual(state.handle(.account("a"), at: .zero), [])
    XCTAssertEqual(state.handle(.end(names[0], .otherAccount), at: .zero), [.start(names[0])])
    XCTAssertEqual(state.handle(.end(names[0], .otherAccount), at: .zero), [])
    XCTAssertEqual(state.handle(.account("b"), at: .zero), [])
    XCTAssertEqual(state.handle(.account("a"), at: .zero), [.start(names[0])])
  }

  func test_outbox_unknownAccount_waitsForASignIn_orForItsPause_andIsNotShownAsAnotherAccount() {
    let locked = NetworkError(kind: .file, reason: "locked")
    var (state, _) = machine([.init(names[0], account: "a")])
    XCTAssertEqual(state.handle(.end(names[0], .unknownAccount(locked)), at: .zero), [])
    XCTAssertEqual(state.states(isElsewhere: false).map(\.state), [.waitingForRetry])
    XCTAssertEqual(state.handle(.account("a"), at: .zero), [.start(names[0])])
    // A sign-in during the attempt.
    XCTAssertEqual(state.handle(.account("a"), at: .zero), [])
    XCTAssertEqual(state.handle(.end(names[0], .unknownAccount(locked)), at: .zero), [.start(names[0])])
    XCTAssertEqual(state.handle(.end(names[0], .unknownAccount(locked)), at: .zero), [])
    XCTAssertEqual(state.handle(.wake, at: .seconds(100)), [.start(names[0])])
  }

  func test_outbox_droppedEntryInFlight_holdsItsKeyUntilTheEnd() {
    var (state, _) = machine([.init(names[0], key: "k"), .init(names[1], key: "k")])
    XCTAssertEqual(state.handle(.drop(names[0]), at: .zero), [.remove(names[0]), .cancel(names[0])])
    XCTAssertEqual(state.handle(.end(names[0], .accepted), at: .zero), [.start(names[1])])
  }

  func test_outbox_retryOfANewerVersion_sendsNothing() {
    var (state, _) = machine([.init(names[0], hold: .newerVersion)])
    XCTAssertEqual(state.handle(.retry(names[0]), at: .zero), [])
  }

  func test_outbox_retryOfAWaitingEntry_countsItsAttemptsFromZero() {
    var (state, _) = machine([.init(names[0])])
    XCTAssertEqual(state.handle(.end(names[0], .failed(down)), at: .zero), [])
    XCTAssertEqual(state.handle(.retry(names[0]), at: .zero), [.start(names[0])])
    XCTAssertEqual(state.handle(.end(names[0], .failed(down)), at: .zero), [], "the first of two attempts")
    XCTAssertEqual(state.handle(.wake, at: .seconds(1)), [.start(names[0])])
    XCTAssertEqual(state.handle(.end(names[0], .failed(down)), at: .seconds(1)), [.report(names[0])])
  }

  func test_outbox_dropDuringTheDeliveryOfAResult_removesTheEntry() {
    for outcome in [OutboxState.Outcome.accepted, .rejected(status: 422)] {
      var (state, _) = machine([.init(names[0], key: "k"), .init(names[1], key: "k")])
      XCTAssertEqual(state.handle(.end(names[0], outcome), at: .zero), [.report(names[0])])
      XCTAssertEqual(state.handle(.drop(names[0]), at: .zero), [])
      XCTAssertEqual(state.handle(.reported(names[0]), at: .zero), [.remove(names[0]), .start(names[1])])
    }
  }

  func test_outbox_retryDuringTheDeliveryOfAResult_sendsTheEntryAgain() {
    var (state, _) = machine([.init(names[0], key: "k"), .init(names[1], key: "k")])
    XCTAssertEqual(state.handle(.end(names[0], .rejected(status: 422)), at: .zero), [.report(names[0])])
    XCTAssertEqual(state.handle(.retry(names[0]), at: .zero), [])
    XCTAssertEqual(state.handle(.retry(names[0]), at: .zero), [])
    XCTAssertEqual(state.handle(.reported(names[0]), at: .zero), [.start(names[0])])
    // An entry that is dropped afterwards is not sent.
    XCTAssertEqual(state.handle(.end(names[0], .rejected(status: 422)), at: .zero), [.report(names[0])])
    XCTAssertEqual(state.handle(.retry(names[0]), at: .zero) + state.handle(.drop(names[0]), at: .zero), [])
    XCTAssertEqual(state.handle(.reported(names[0]), at: .zero), [.remove(names[0]), .start(names[1])])
    // A result that was accepted is not sent again.
    XCTAssertEqual(state.handle(.end(names[1], .accepted), at: .zero), [.report(names[1])])
    XCTAssertEqual(state.handle(.retry(names[1]), at: .zero), [])
    XCTAssertEqual(state.handle(.reported(names[1]), at: .zero), [.remove(names[1])])
  }

  func test_outbox_retryAfter_isAtMostADay() {
    for (requested, pause) in [(60, 60), (86_400, 86_400), (9_999_999_999, 86_400)] as [(Int, Int)] {
      var (state, _) = machine([.init(names[0])])
      XCTAssertEqual(state.handle(.end(names[0], .failed(down, after: .seconds(requested))), at: .seconds(1)), [])
      XCTAssertEqual(state.deadline, .seconds(1 + pause))
    }
  }

  func test_outbox_emptyLanes_areForgotten() throws {
    var (state, _) = machine([])
    for number in 1...100 {
      let name = OutboxName(UInt64(number), UUID())
      let added = state.handle(.add([.init(name, key: "\(number)")]), at: .zero)
      XCTAssertEqual(added, [.start(name)])
      XCTAssertEqual(state.handle(.end(name, .accepted), at: .zero), [.report(name)])
      XCTAssertEqual(state.handle(.reported(name), at: .zero), [.remove(name)])
    }
    let tables = Mirror(reflecting: state).children.filter {
      ["order", "items", "flights", "lanes", "unreadable", "absent"].contains($0.label)
    }
    XCTAssertEqual(tables.map { Mirror(reflecting: $0.value).children.count }, [0, 0, 0, 0, 0, 0])
  }
}

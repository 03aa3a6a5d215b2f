import Dispatch
import Foundation
import Streams
import StreamsTesting
import XCTest

/// Law 32: the `value` of the subjects that have a current element.
final class StateLawsTests: StreamsTestCase {
  private struct State: Sendable, Equatable {
    var user = ""
    var cart = 0
  }

  func test_law32_twoObserversThatEachChangeOneFieldLoseNoChange() {
    let state = BehaviorRelay(value: State())
    let bag = DisposeBag()
    state.subscribe(onNext: { seen in
      guard seen == State(user: "", cart: 1) else { return }
      var next = state.value
      next.user = "ann"
      state.accept(next)
    }).disposed(by: bag)
    state.subscribe(onNext: { seen in
      guard seen == State(user: "", cart: 1) else { return }
      var next = state.value
      next.cart = 3
      state.accept(next)
    }).disposed(by: bag)
    state.accept(State(user: "", cart: 1))
    XCTAssertEqual(state.value, State(user: "ann", cart: 3))
  }

  func test_law32_relayValueShowsAReentrantAcceptImmediately() {
    let relay = BehaviorRelay(value: 0)
    let seen = Log<Int>()
    let subscription = relay.subscribe(onNext: { value in
      seen.add(value)
      if value == 1 {
        relay.accept(relay.value + 1)
        relay.accept(relay.value + 1)
      }
    })
    relay.accept(1)
    XCTAssertEqual(relay.value, 3)
    XCTAssertEqual(seen.all, [0, 1, 2, 3])
    subscription.dispose()
  }

  func test_law32_subjectValueShowsAReentrantElementAndEndImmediately() throws {
    let subject = BehaviorSubject(value: 0)
    let values = Log<Int>()
    let subscription = subject.subscribe(
      onNext: { value in
        guard value == 1 else { return }
        subject.onNext(2)
        values.add((try? subject.value()) ?? -1)
        subject.onError(TestError())
        values.add((try? subject.value()) ?? -1)
      }, onError: { _ in values.add(99) })
    subject.onNext(1)
    XCTAssertEqual(values.all, [2, -1, 99])
    XCTAssertThrowsError(try subject.value())
    subscription.dispose()
  }

  func test_law32_relayValueShowsElementsAcceptedWhileAnotherThreadDelivers() {
    let relay = BehaviorRelay(value: [String]())
    let entered = DispatchSemaphore(value: 0)
    let proceed = DispatchSemaphore(value: 0)
    let seen = Log<[String]>()
    let subscription = relay.subscribe(onNext: { value in
      seen.add(value)
      if value == ["a"] {
        entered.signal()
        proceed.wait()
      }
    })
    let delivered = expectation(description: "the slow delivery has returned")
    Thread.detachNewThread {
      relay.accept(["a"])
      delivered.fulfill()
    }
    entered.wait()
    relay.accept(relay.value + ["b"])
    relay.accept(relay.value + ["c"])
    XCTAssertEqual(relay.value, ["a", "b", "c"])
    proceed.signal()
    wait(for: [delivered], timeout: 20)
    XCTAssertEqual(seen.all, [[], ["a"], ["a", "b"], ["a", "b", "c"]])
    subscription.dispose()
  }

  func test_law32_theLastElementDeliveredIsTheValueWhenThreadsRace() {
    for _ in 0..<100 {
      let relay = BehaviorRelay(value: -1)
      let seen = Log<Int>()
      let subscription = relay.subscribe(onNext: { seen.add($0) })
      onThreads(3) { index in for step in 0..<50 { relay.accept(index * 50 + step) } }
      XCTAssertEqual(seen.count, 151)
      XCTAssertEqual(seen.all.last, relay.value)
      subscription.dispose()
    }
  }

  func test_law32_aSubscriberThatArrivesDuringADeliveryReceivesTheValueFirst() {
    let relay = BehaviorRelay(value: 0)
    let late = Log<Int>()
    let joined = SerialDisposable()
    let subscription = relay.subscribe(onNext: { value in
      guard value == 1 else { return }
      relay.accept(2)
      joined.disposable = relay.subscribe(onNext: { late.add($0) })
      XCTAssertEqual(late.all, [2])
      relay.accept(3)
    })
    relay.accept(1)
    XCTAssertEqual(late.all, [2, 3])
    joined.dispose()
    subscription.dispose()
  }

  func test_law32_updatesFromManyThreadsLoseNoChange() {
    for _ in 0..<100 {
      let relay = BehaviorRelay(value: 0)
      let seen = Log<Int>()
      let subscription = relay.subscribe(onNext: { seen.add($0) })
      onThreads(3) { _ in for _ in 0..<50 { relay.update { $0 += 1 } } }
      XCTAssertEqual(relay.value, 150)
      XCTAssertEqual(seen.all, Array(0...150))
      subscription.dispose()
    }
  }

  func test_law32_updateRunsAgainWhenAnotherThreadAcceptsMeanwhile() {
    let relay = BehaviorRelay(value: ["a"])
    let inside = DispatchSemaphore(value: 0)
    let accepted = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      inside.wait()
      relay.accept(["a", "b"])
      accepted.signal()
    }
    var runs = 0
    let count = relay.update { value -> Int in
      runs += 1
      if runs == 1 {
        inside.signal()
        accepted.wait()
      }
      value.append("c")
      return value.count
    }
    XCTAssertEqual(runs, 2)
    XCTAssertEqual(count, 3)
    XCTAssertEqual(relay.value, ["a", "b", "c"])
  }

  func test_law32_updateThatThrowsAcceptsNothing() {
    let relay = BehaviorRelay(value: 1)
    XCTAssertThrowsError(
      try relay.update {
        $0 = 2
        throw TestError()
      })
    XCTAssertEqual(relay.value, 1)
  }
}

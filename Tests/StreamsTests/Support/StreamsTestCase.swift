import Foundation
import Streams
import StreamsTesting
import Synchronization
import TestSupport
import XCTest

/// A test case that asserts after each test that no subscription is left alive (contract, law 28).
///
/// It ends the process if a test runs for five minutes: an operator that loops inside `subscribe`, or a lock that is
/// never released, would otherwise stop the run forever.
class StreamsTestCase: XCTestCase {
  private static let watch = DispatchQueue(label: "tests that hang")
  private var before = 0
  private var alarm: DispatchWorkItem?

  override func setUp() {
    super.setUp()
    before = Hooks.liveSubscriptionCount
    let alarm = DispatchWorkItem { [name] in fatalError("\(name) has run for five minutes: an operator hangs") }
    Self.watch.asyncAfter(deadline: .now() + 300, execute: alarm)
    self.alarm = alarm
  }

  override func tearDown() {
    defer { alarm?.cancel() }
    let before = self.before
    waitUntil("live subscriptions are back at \(before)", explain: { "still \(Hooks.liveSubscriptionCount)" }) {
      Hooks.liveSubscriptionCount <= before
    }
    super.tearDown()
  }

  /// Waits for a condition that other threads satisfy; fails after 20 s.
  func waitUntil(
    _ what: String, explain: () -> String = { "" }, file: StaticString = #filePath, line: UInt = #line,
    _ condition: () -> Bool
  ) {
    let deadline = Date().addingTimeInterval(20)
    let pause = DispatchSemaphore(value: 0)
    while !condition() {
      guard Date() < deadline else {
        return XCTFail("waited in vain until \(what); \(explain())", file: file, line: line)
      }
      _ = pause.wait(timeout: .now() + .milliseconds(1))
    }
  }

  /// Runs `body` on `count` threads concurrently and waits for all of them.
  func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let start = DispatchSemaphore(value: 0)
    let done = DispatchSemaphore(value: 0)
    for index in 0..<count {
      Thread.detachNewThread {
        start.wait()
        body(index)
        done.signal()
      }
    }
    for _ in 0..<count { start.signal() }
    for _ in 0..<count { done.wait() }
  }
}

/// A log that any thread may append to.
final class Log<Element: Sendable>: Sendable {
  private let stored = Locked<[Element]>([])

  var all: [Element] { stored.withLock { $0 } }
  var count: Int { stored.withLock { $0.count } }

  func add(_ element: Element) { stored.withLock { $0.append(element) } }
}

/// An observer that checks, on any number of threads, the grammar (contract, law 1) and that events never overlap
/// (contract, law 2).
final class Referee<Element: Sendable>: Sendable {
  let elements = Log<Element>()
  let violations = Log<String>()
  let ends = Log<String>()
  private let inside = Atomic<Int>(0)

  func watch(_ source: some ObservableType<Element>) -> any Disposable {
    source.subscribe { event in
      if self.inside.add(1, ordering: .acquiringAndReleasing).oldValue != 0 {
        self.violations.add("\(event) overlaps another event")
      }
      if self.ends.count > 0 { self.violations.add("\(event) came after the end") }
      switch event {
      case .next(let element): self.elements.add(element)
      case .error(let error): self.ends.add("error(\(error))")
      case .completed: self.ends.add("completed")
      }
      self.inside.subtract(1, ordering: .acquiringAndReleasing)
    }
  }

  func check(file: StaticString = #filePath, line: UInt = #line) {
    XCTAssertEqual(violations.all, [], file: file, line: line)
    XCTAssertLessThanOrEqual(ends.count, 1, "more than one end: \(ends.all)", file: file, line: line)
  }
}

/// Runs the main loop until a condition holds that the main queue satisfies; fails after 20 s.
@MainActor
func runMainLoop(
  until what: String, file: StaticString = #filePath, line: UInt = #line, _ condition: () -> Bool
) {
  let deadline = Date().addingTimeInterval(20)
  while !condition() {
    guard Date() < deadline else { return XCTFail("waited in vain until \(what)", file: file, line: line) }
    _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01))
  }
}

/// Runs the items queued for the main scheduler, so that the next one runs inline.
@MainActor
func drainMain() {
  let ran = Log<Bool>()
  _ = MainScheduler.instance.schedule { ran.add(true) }
  runMainLoop(until: "the main scheduler is idle") { ran.count == 1 }
}

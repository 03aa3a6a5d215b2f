import Foundation
import StreamsTesting
import TestSupport
import XCTest

@testable import NetLayer
@testable import NetLayerOffline

/// An outbox with very many entries: one timer, few emissions, a fast restart.
final class OutboxScaleTests: XCTestCase {
  /// Writes entries without syncing, as a long time without a network would leave them.
  private func fill(_ fixture: OutboxFixture, _ count: Int) throws {
    try FileManager.default.createDirectory(at: fixture.folder, withIntermediateDirectories: true)
    let contents = try (0..<100).map { number in
      try OutboxEntry(
        UUID(), FrozenCall(AddNote(text: "\(number)"), on: fixture.network), account: nil, lane: "\(number)",
        createdAt: Date(timeIntervalSince1970: 0), type: "AddNote", value: Data("{\"text\":\"\(number)\"}".utf8)
      ).bytes
    }
    for number in 1...count {
      try contents[number % 100].write(to: fixture.file(OutboxName(UInt64(number), UUID()).text))
    }
  }

  func test_outbox_manyEntries_areReadInOneEmission() throws {
    let count = ProcessInfo.processInfo.environment["NETLAYER_OUTBOX_ENTRIES"].flatMap(Int.init) ?? 1000
    let fixture = try OutboxFixture(self)
    fixture.reachability.set(false)
    try fill(fixture, count)
    let clock = ContinuousClock()
    let start = clock.now
    let outbox = try fixture.open(limits: Outbox.Limits(maxEntries: 2 * count))
    fixture.waits { fixture.entries.count == count }
    let read = clock.now - start
    // The first is empty, and the next has all.
    XCTAssertLessThanOrEqual(fixture.emissions.value, 3)
    XCTAssertEqual(fixture.entries.first?.path, "/notes")
    let emissions = fixture.emissions.value
    let sending = clock.now
    for number in 0..<10 { try outbox.send(AddNote(text: "\(number)")) }
    print("\(count) entries: read in \(read), then 10 more stored in \(clock.now - sending)")
    XCTAssertLessThanOrEqual(fixture.emissions.value, emissions + 10)
    XCTAssertEqual(fixture.entries.count, count + 10)
  }

  func test_outbox_manyDelays_haveOneTimer() throws {
    let fixture = try OutboxFixture(self)
    let timers = CountingScheduler(fixture.clock)
    let network = fixture.backend {
      $0.clock = timers
      $0.mapping = fixture.clock
    }
    for _ in 0..<200 { fixture.server.script(.status(503)) }
    let outbox = try fixture.open(on: network, starts: false)
    for number in 0..<200 { try outbox.send(AddNote(text: "\(number)")) }
    outbox.start()
    fixture.waits {
      fixture.pass(.milliseconds(1))
      return fixture.server.seen.count >= 200
        && fixture.entries.allSatisfy { $0.state != .sending && $0.state != .queued }
    }
    XCTAssertEqual(timers.live, 1)
    fixture.waits {
      fixture.pass(.milliseconds(100))
      return fixture.entries.isEmpty
    }
    XCTAssertEqual(timers.live, 0)
    XCTAssertEqual(fixture.server.applied.count, 200)
  }

  /// Counts the timers that have neither run nor been cancelled.
  private final class CountingScheduler: SchedulerType {
    private let base: TestScheduler
    private let count = Box<Set<Int>>([])
    private let last = Counter()
    init(_ base: TestScheduler) { self.base = base }
    var live: Int { count.value.count }
    var now: Date { base.now }
    var uptime: Duration { base.uptime }
    func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable { base.schedule(action) }
    func scheduleRelative(_ dueTime: Duration, _ action: @escaping @Sendable () -> Void) -> any Disposable {
      let number = last.next()
      count.update { _ = $0.insert(number) }
      let item = base.scheduleRelative(dueTime) { [count] in
        count.update { _ = $0.remove(number) }
        action()
      }
      return Disposables.create { [count] in
        count.update { _ = $0.remove(number) }
        item.dispose()
      }
    }
  }

  func test_outbox_pending_emitsOnceForAllEventsOfADrain() throws {
    let fixture = try OutboxFixture(self)
    let outbox = try fixture.open(starts: false)
    let sent = Box(false)
    // Events that a subscriber causes are handled together.
    _ = outbox.pending.subscribe(onNext: { [weak outbox] entries in
      guard entries.isEmpty,
        !sent.update({ done in
          defer { done = true }
          return done
        })
      else { return }
      for number in 0..<50 { _ = try? outbox?.send(AddNote(text: "\(number)")) }
    })
    XCTAssertEqual(fixture.entries.count, 50)
    XCTAssertLessThanOrEqual(fixture.emissions.value, 3)
  }
}

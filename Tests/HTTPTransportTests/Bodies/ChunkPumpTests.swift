import Foundation
import NetLayer
import Streams
import Synchronization
import XCTest

@testable import HTTPTransport

/// The guarantees for every source of a body: backpressure, a clean end, and a time limit per chunk.
final class ChunkPumpTests: XCTestCase {
  private static let chunk = Data(repeating: 7, count: 1 << 16)

  /// A consumer that reads the steps of `pump` and waits for the source.
  private final class Consumer: Sendable {
    let pump: ChunkPump
    private let woken: DispatchSemaphore

    init(_ stream: Request.BodyStream) {
      let woken = DispatchSemaphore(value: 0)
      self.woken = woken
      pump = ChunkPump(stream) { woken.signal() }
    }

    func next(_ count: Int = 1 << 16) throws -> ChunkPump.Step {
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
      defer { buffer.deallocate() }
      while true {
        let step = pump.read(into: buffer)
        guard case .wait = step else { return step }
        guard woken.wait(timeout: .now() + 20) == .success else {
          XCTFail("the pump did not wake its reader")
          throw XCTSkip("nothing to look at")
        }
      }
    }

    func bytes(_ count: Int = 1 << 16) throws -> Int {
      switch try next(count) {
      case .bytes(let count): return count
      case .end: return 0
      case .wait: return -1
      case .failure(let error): throw error
      }
    }
  }

  func test_aSequenceIsReadAtMost256KBAhead() throws {
    let made = Atomic<Int>(0)
    let taken = Atomic<Int>(0)
    let most = Atomic<Int>(0)
    let consumer = Consumer(
      Request.BodyStream(sequence: {
        AsyncStream<Data> {
          let count = made.add(1, ordering: .sequentiallyConsistent).newValue
          most.max(count - taken.load(ordering: .sequentiallyConsistent), ordering: .sequentiallyConsistent)
          return count <= 100 ? Self.chunk : nil
        }
      }))
    for index in 1...100 {
      XCTAssertEqual(try consumer.bytes(), 1 << 16)
      taken.store(index, ordering: .sequentiallyConsistent)
      if index == 1 {
        // Four chunks fill 256 KB, and the first has been read: the sequence produces exactly five.
        let full = expectation(
          for: NSPredicate { _, _ in made.load(ordering: .sequentiallyConsistent) == 5 }, evaluatedWith: nil)
        wait(for: [full], timeout: 20)
      }
    }
    XCTAssertEqual(try consumer.bytes(), 0)
    XCTAssertEqual(made.load(ordering: .sequentiallyConsistent), 101)
    XCTAssertLessThanOrEqual(most.load(ordering: .sequentiallyConsistent), 6)
  }

  func test_aStopCancelsTheTaskThatWaitsForTheNextElement() throws {
    let waiting = WaitingChunks(self)
    let consumer = Consumer(Request.BodyStream(once: waiting.chunks))
    XCTAssertEqual(try consumer.bytes(), 5)
    wait(for: [waiting.awaited], timeout: 20)
    consumer.pump.stop()
    wait(for: [waiting.cancelled], timeout: 20)
  }

  func test_aStopEndsASequenceThatWaitsForBufferSpace() throws {
    final class Token: Sendable {
      let gone: XCTestExpectation
      init(_ gone: XCTestExpectation) { self.gone = gone }
      deinit { gone.fulfill() }
    }
    let gone = expectation(description: "the sequence is released")
    let made = Atomic<Int>(0)
    let consumer = Consumer(
      Request.BodyStream(sequence: {
        let token = Token(gone)
        return AsyncStream<Data> {
          withExtendedLifetime(token) {}
          made.add(1, ordering: .sequentiallyConsistent)
          return Self.chunk
        }
      }))
    XCTAssertEqual(try consumer.bytes(1), 1)
    let full = expectation(
      for: NSPredicate { _, _ in made.load(ordering: .sequentiallyConsistent) == 4 }, evaluatedWith: nil)
    wait(for: [full], timeout: 20)
    consumer.pump.stop()
    wait(for: [gone], timeout: 20)
    XCTAssertEqual(made.load(ordering: .sequentiallyConsistent), 4)
  }

  func test_aRewindDoesNotWaitForABlockedReader() throws {
    let blocked = DispatchSemaphore(value: 0)
    defer { blocked.signal() }
    let rounds = Locked(0)
    let consumer = Consumer(
      Request.BodyStream(open: {
        let round = rounds.withLock { rounds in
          rounds += 1
          return rounds
        }
        let calls = Locked(0)
        return {
          let call = calls.withLock { calls in
            calls += 1
            return calls
          }
          if round == 1, call == 2 {
            blocked.wait()
            return Data("stale".utf8)
          }
          return call <= 2 ? Data("\(round)\(call)".utf8) : nil
        }
      }))
    XCTAssertEqual(try consumer.bytes(2), 2)
    XCTAssertTrue(consumer.pump.rewind())
    XCTAssertEqual(try consumer.bytes(2), 2)
    XCTAssertEqual(try consumer.bytes(2), 2)
    XCTAssertEqual(try consumer.bytes(), 0)
    XCTAssertEqual(rounds.withLock { $0 }, 2)
  }

  func test_smallChunksAreCombined() throws {
    let made = Locked(0)
    let consumer = Consumer(
      Request.BodyStream(once: {
        let number = made.withLock { made in
          made += 1
          return made
        }
        return number <= 100 ? Data("\(number % 10)".utf8) : nil
      }))
    let full = expectation(for: NSPredicate { _, _ in made.withLock { $0 } == 101 }, evaluatedWith: nil)
    XCTAssertEqual(try consumer.bytes(1), 1)
    wait(for: [full], timeout: 20)
    XCTAssertEqual(try consumer.bytes(50), 50)
    XCTAssertEqual(try consumer.bytes(), 49)
    XCTAssertEqual(try consumer.bytes(), 0)
  }

  func test_aRewindRestartsOnlyARepeatableSequence() throws {
    let consumer = Consumer(
      Request.BodyStream(sequence: {
        AsyncStream<Data> {
          $0.yield(Data("abc".utf8)); $0.finish()
        }
      }))
    XCTAssertEqual(try consumer.bytes(), 3)
    XCTAssertTrue(consumer.pump.rewind())
    XCTAssertEqual(try consumer.bytes(), 3)
    XCTAssertEqual(try consumer.bytes(), 0)
    let once = Consumer(
      Request.BodyStream(
        once: AsyncStream<Data> {
          $0.yield(Data("abc".utf8)); $0.finish()
        }))
    XCTAssertEqual(try once.bytes(), 3)
    XCTAssertFalse(once.pump.rewind())
  }

  func test_aSingleUseSequenceIsIteratedOnce() throws {
    let stream = Request.BodyStream(once: AsyncStream<Data> { $0.finish() })
    XCTAssertEqual(try Consumer(stream).bytes(), 0)
    XCTAssertThrowsError(try Consumer(stream).bytes()) { error in
      XCTAssertEqual((error as? NetworkError)?.kind, .invalidRequest)
      XCTAssert("\(error)".contains("BodyStream(count:sequence:)"), "\(error)")
    }
  }

  func test_aSilentSourceReachesItsTimeLimit_alsoWithEmptyChunks() throws {
    let isOver = Atomic<Bool>(false)
    defer { isOver.store(true, ordering: .releasing) }
    let (sequence, continuation) = AsyncStream.makeStream(of: Data.self)
    let cancelled = expectation(description: "the sequence is cancelled")
    continuation.onTermination = { if case .cancelled = $0 { cancelled.fulfill() } }
    for var stream in [
      Request.BodyStream(once: sequence), .init(open: { { isOver.load(ordering: .acquiring) ? nil : Data() } }),
    ] {
      stream.chunkTimeout = .seconds(0.05)
      let consumer = Consumer(stream)
      guard case .failure(let error) = try consumer.next() else { return XCTFail("no failure") }
      XCTAssertEqual(error.kind, .timeout)
      XCTAssert(error.reason.contains("0.05 s (BodyStream.chunkTimeout)"), error.reason)
      consumer.pump.stop()
    }
    wait(for: [cancelled], timeout: 20)
  }

  func test_theChunkTimeoutAppliesToEachWaitSeparately() throws {
    // Six chunks together take longer than the limit, but each alone takes far less.
    let go = DispatchSemaphore(value: 0)
    var stream = Request.BodyStream(open: {
      let left = Locked(6)
      return {
        guard
          left.withLock({ left in
            left -= 1
            return left >= 0
          })
        else { return nil }
        _ = go.wait(timeout: .now() + 0.2)
        return Data("chunk".utf8)
      }
    })
    stream.chunkTimeout = .seconds(1)
    let consumer = Consumer(stream)
    var total = 0
    while true {
      let count = try consumer.bytes()
      if count == 0 { break }
      total += count
    }
    XCTAssertEqual(total, 30)
    withExtendedLifetime(go) {}
  }
}

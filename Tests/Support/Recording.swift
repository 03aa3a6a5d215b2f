import Foundation
import HTTPTransport
import NetLayer
import Streams
import XCTest

/// The events of a subscription.
package struct Recorded<Element: Sendable>: Sendable {
  package var elements: [Element] = []
  package var errors: [any Error] = []
  package var completions = 0
  package var onMain: [Bool] = []

  package var error: NetworkError? { errors.first as? NetworkError }
  /// The number of terminal events, which must be 1.
  package var ends: Int { errors.count + completions }
}

extension XCTestCase {
  /// Subscribes and waits for the end, while the main queue runs.
  package func record<Source: ObservableConvertibleType>(
    _ source: Source, file: StaticString = #filePath, line: UInt = #line
  ) -> Recorded<Source.Element> {
    let recorder = Recorder<Source.Element>()
    let ended = expectation(description: "the stream has ended")
    let subscription = source.asObservable().subscribe(
      onNext: { element in recorder.note { $0.elements.append(element) } },
      onError: { error in recorder.note { $0.errors.append(error) } },
      onCompleted: { recorder.note { $0.completions += 1 } },
      onDisposed: { ended.fulfill() })
    wait(for: [ended], timeout: 60)
    subscription.dispose()
    let seen = recorder.seen
    XCTAssertEqual(seen.ends, 1, "the stream must end exactly once", file: file, line: line)
    return seen
  }

  /// Returns the error with which `source` fails.
  package func failure<Source: ObservableConvertibleType>(
    of source: Source, file: StaticString = #filePath, line: UInt = #line
  ) throws -> NetworkError {
    let recorded = record(source, file: file, line: line)
    XCTAssertEqual(recorded.elements.count, 0, file: file, line: line)
    return try XCTUnwrap(recorded.error, "no NetworkError", file: file, line: line)
  }
}

extension XCTestCase {
  /// Returns the error that `work` throws.
  package func failure(
    _ work: () throws -> some Any, file: StaticString = #filePath, line: UInt = #line
  ) throws -> NetworkError {
    do {
      _ = try work()
    } catch let error as NetworkError {
      return error
    }
    XCTFail("no error", file: file, line: line)
    throw CancellationError()
  }
}

private final class Recorder<Element: Sendable>: Sendable {
  private let state = Locked(Recorded<Element>())

  var seen: Recorded<Element> { state.withLock { $0 } }

  func note(_ change: (inout Recorded<Element>) -> Void) {
    let main = MainThread.isCurrent
    state.withLock { state in
      change(&state)
      state.onMain.append(main)
    }
  }
}

/// The main thread. XCTest runs the main queue on it, so tests can check the thread.
package enum MainThread {
  package static var isCurrent: Bool { Thread.isMainThread }
}

import Foundation
import NetLayer
import Streams
import XCTest

@testable import HTTPTransport

/// Calls that go through one transport, 64 at a time, and what came of them.
final class OnceRound: Sendable {
  /// What came of the calls.
  struct Tally {
    var started = 0
    var ended = 0
    var answered = 0
    var cancelled = 0
    /// Calls that must not be sent twice and failed with their connection; the server tells whether it processed them.
    var failed: [(call: OnceCall, error: NetworkError)] = []
    var problems: [String] = []
    /// The proxy's names of the connections that were used.
    var connections: Set<String> = []
    var versions: Set<String> = []
  }

  private let calls: Range<Int>
  private let seed: UInt64
  private let url: URL
  private let network: Network
  private let finished: XCTestExpectation
  private let tally = Locked(Tally())
  /// Ends the round while calls are in flight; `nil` where it ends by itself.
  private let shutDown: (@Sendable () -> Void)?
  private static let width = 64

  /// - Parameter shutDown: is called when all have begun, with some still in flight.
  init(
    _ calls: Range<Int>, server: OnceServer, url: URL, through transport: any Transport,
    finished: XCTestExpectation, shutDown: (@Sendable () -> Void)?
  ) {
    self.calls = calls
    self.url = url
    self.finished = finished
    self.shutDown = shutDown
    seed = server.seed
    let tokens = Locked(0)
    network = Network(
      Backend(
        transport: transport,
        interceptors: [
          CoalescingInterceptor(),
          RetryInterceptor(
            policy: RetryPolicy(initialDelay: .milliseconds(2)), budget: RetryBudget(capacity: .infinity)),
          AuthenticationInterceptor(for: [url], maxRefreshes: .max) { _ in
            .just(
              Token(
                access: tokens.withLock {
                  $0 += 1
                  return "\($0)"
                }))
          },
        ]))
  }

  var outcome: Tally { tally.withLock { $0 } }

  func start() { for _ in 0..<Self.width { next() } }

  private func next() {
    let (id, isLast) = tally.withLock { tally -> (Int?, Bool) in
      guard tally.started < calls.count else { return (nil, false) }
      tally.started += 1
      return (calls.lowerBound + tally.started - 1, tally.started == calls.count)
    }
    guard let id else { return }
    begin(OnceCall(id, seed: seed))
    if isLast { shutDown?() }
  }

  private func begin(_ call: OnceCall) {
    let request = call.request(at: url)
    let left = Locked(call.callers)
    for _ in 0..<call.callers {
      let end = End { [self] result in
        note(call, result)
        let isLast = left.withLock { left in
          left -= 1
          return left == 0
        }
        if isLast { ended() }
      } twice: { [self] in
        tally.withLock { $0.problems.append("call \(call.id) has ended twice") }
      }
      let subscription = network.send(request).subscribe(
        onSuccess: { end.call(.success($0)) }, onError: { end.call(.failure(NetworkError.wrapping($0))) })
      guard let delay = call.cancelsAfter else { continue }
      DispatchQueue.global().asyncAfter(deadline: .now() + delay / 1000) {
        subscription.dispose()
        end.cancel()
      }
    }
  }

  private func ended() {
    let isLast = tally.withLock { tally in
      tally.ended += 1
      return tally.ended == calls.count
    }
    if isLast { finished.fulfill() } else { next() }
  }

  private func note(_ call: OnceCall, _ result: Result<Response, NetworkError>?) {
    tally.withLock { tally in
      func wrong(_ what: String) { tally.problems.append("\(call): \(what)") }
      switch result {
      case nil: tally.cancelled += 1
      case .success(let response):
        tally.answered += 1
        if let name = response.headers["X-Connection"] { tally.connections.insert(name) }
        if let version = response.metrics?.httpVersion { tally.versions.insert(version) }
        switch (response.status, call.script) {
        case (200, _): if response.body != Data("\(call.id)".utf8) { wrong("the response of another") }
        // Processed, and not to be sent again; the proxy says 502 where the connection behind it ends.
        case (503, .busy) where !call.isRepeatable, (502, .dropped) where !call.isRepeatable,
          (502, .lost) where !call.isRepeatable:
          break
        // A body that exists once can't follow.
        case (401, .expired) where call.isOneShot, (307, .redirected) where call.isOneShot: break
        default: wrong("status \(response.status)")
        }
      case .failure(let error) where error.kind == .cancelled:
        tally.cancelled += 1
        if shutDown == nil { wrong("cancelled by nobody") }
      case .failure(let error):
        if call.isRepeatable {
          wrong("\(error)")
        } else {
          tally.failed.append((call, error))
        }
      }
    }
  }

  /// Passes the first end of a call on, and says when there is a second one.
  private final class End: Sendable {
    private let first: @Sendable (Result<Response, NetworkError>?) -> Void
    private let twice: @Sendable () -> Void
    private let state = Locked((hasEnded: false, isCancelled: false))

    init(
      _ first: @escaping @Sendable (Result<Response, NetworkError>?) -> Void, twice: @escaping @Sendable () -> Void
    ) {
      self.first = first
      self.twice = twice
    }

    func call(_ result: Result<Response, NetworkError>) {
      let (isFirst, isSecond) = state.withLock { state in
        defer { state.hasEnded = true }
        // One that was on its way when the caller cancelled is none too many.
        return (!state.hasEnded && !state.isCancelled, state.hasEnded)
      }
      if isFirst { first(result) }
      if isSecond { twice() }
    }

    func cancel() {
      let isFirst = state.withLock { state in
        defer { state.isCancelled = true }
        return !state.hasEnded && !state.isCancelled
      }
      if isFirst { first(nil) }
    }
  }
}

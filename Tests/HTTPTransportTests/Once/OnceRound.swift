import Foundation
import HTTPTransport
import NetLayer
import Streams
import XCTest

/// Calls through one transport, 64 at a time, and their outcomes.
final class OnceRound: Sendable {
  /// The outcomes of the calls.
  struct Tally {
    var started = 0
    var ended = 0
    var replied = 0
    var cancelled = 0
    /// The calls that must not be sent twice and failed with their connection. The server knows whether it processed
    /// them.
    var failed: [(call: OnceCall, error: NetworkError)] = []
    var problems: [String] = []
    /// The names that the proxy gave to the connections.
    var connections: Set<String> = []
    var versions: Set<String> = []
  }

  private let calls: Range<Int>
  private let seed: UInt64
  private let url: URL
  private let network: Network
  private let finished: XCTestExpectation
  private let tally = Locked(Tally())
  /// The shutdown of the transport, called while calls are in flight; `nil` if the round runs to its end.
  private let shutDown: (@Sendable () -> Void)?
  private static let width = 64

  /// - Parameter shutDown: Called after all calls have started, while some are in flight.
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
        tally.replied += 1
        if let name = response.headers["X-Connection"] { tally.connections.insert(name) }
        if let version = response.metrics?.httpVersion { tally.versions.insert(version) }
        switch (response.status, call.script) {
        case (200, _): if response.body != Data("\(call.id)".utf8) { wrong("the response of another") }
        // Processed, and not retried. The proxy responds with 502 if its connection to the server ends.
        case (503, .busy) where !call.isRepeatable, (502, .dropped) where !call.isRepeatable,
          (502, .lost) where !call.isRepeatable:
          break
        // A single-use body cannot be sent again.
        case (401, .expired) where call.isOneShot, (307, .redirected) where call.isOneShot: break
        default: wrong("status \(response.status)")
        }
      case .failure(let error) where error.kind == .cancelled:
        tally.cancelled += 1
        if shutDown == nil { wrong("cancelled by nobody") }
      case .failure(let error):
        // Over HTTP/2, each of the three attempts of a request with a key may be lost with its connection.
        if call.isRepeatable, call.method.isIdempotent || url.scheme == "http" {
          wrong("\(error)")
        } else {
          tally.failed.append((call, error))
        }
      }
    }
  }

  /// A completion that forwards the first outcome of a call and reports a second one.
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
        // An outcome that was on its way when the caller cancelled is allowed.
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

import Foundation
import NetLayer
import Streams

/// Runs the requests of `Demo get`, at most so many at once, and prints their results.
final class Fetcher: Sendable {
  private struct Tally {
    var running = 0
    var done = 0
    var failed = 0
  }

  private let options: GetOptions
  private let console: Console
  private let network: Network
  private let slots: DispatchSemaphore
  private let running = CompositeDisposable()
  private let tally = Locked(Tally())
  private let clock = ConcurrentDispatchQueueScheduler(qos: .utility)

  /// - Throws: `NetworkError` if there is no transport with these options.
  init(_ options: GetOptions, _ console: Console) throws {
    self.options = options
    self.console = console
    network = try options.request.network(
      concurrency: options.concurrency, envelope: options.envelope ?? Envelope(), console)
    slots = DispatchSemaphore(value: options.concurrency)
  }

  var failures: Int { tally.withLock { $0.failed } }

  /// Fetches a URL that came as text; one that is none is a result, too.
  func fetch(_ text: String) {
    do {
      fetch(try Target.url(text))
    } catch {
      let reason = (error as? UsageError)?.message ?? "\(error)"
      begin()
      end(ResultLine(url: text, error: NetworkError(kind: .invalidRequest, reason: reason), milliseconds: 0))
      slots.signal()
    }
  }

  /// Waits for a free slot, then fetches `url` in the background.
  func fetch(_ url: URL) {
    begin()
    if options.request.curl {
      let code = DryRun.run(options.target(url), network, console)
      tally.withLock { tally in
        tally.running -= 1
        tally.failed += Int(code)
      }
      _ = slots.signal()
      return
    }
    fetch(page: url, seen: [])
  }

  /// Waits for all that runs.
  func wait() {
    for _ in 0..<options.concurrency { slots.wait() }
    // A semaphore must not be released below its first value.
    for _ in 0..<options.concurrency { slots.signal() }
  }

  /// Cancels all that runs.
  func stop() { running.dispose() }

  // Pages follow each other from completion to completion, so their number makes no stack deeper.
  private func fetch(page url: URL, seen: Set<String>) {
    let start = ContinuousClock.now
    let text = url.absoluteString
    let subscription = SingleAssignmentDisposable()
    let key = running.insert(subscription)
    let leave: @Sendable () -> Void = { [running] in if let key { running.remove(for: key) } }
    let current = attempt(options.target(url), left: options.retries)
      .map { [options] in try Reading($0, options) }
      .subscribe(
        onSuccess: { [self] reading in
          end(ResultLine(url: text, reading: reading, milliseconds: Self.milliseconds(since: start)))
          leave()
          if options.followPages, let cursor = reading.cursor {
            follow(cursor, from: url, seen: seen)
          } else {
            slots.signal()
          }
        },
        onError: { [self] error in
          end(ResultLine(url: text, error: error, milliseconds: Self.milliseconds(since: start)))
          leave()
          slots.signal()
        })
    subscription.setDisposable(current)
  }

  private func follow(_ cursor: String, from url: URL, seen: Set<String>) {
    tally.withLock { $0.running += 1 }
    let name = (options.envelope ?? Envelope()).cursor
    guard !seen.contains(cursor), let next = url.replacingQueryItem(name, with: cursor) else {
      let error = NetworkError(kind: .parse, reason: "the cursor \(cursor.debugDescription) comes again: stopped")
      end(ResultLine(url: url.absoluteString, error: error, milliseconds: 0))
      slots.signal()
      return
    }
    fetch(page: next, seen: seen.union([cursor]))
  }

  private func attempt(_ target: Target, left: Int, pause: Duration = .milliseconds(100)) -> Single<Response> {
    network.request(target).map { try $0.validated() }.catchError { [self] error in
      guard left > 0, (error as? NetworkError)?.mayPass == true else { throw error }
      return Observable<Int>.timer(pause, scheduler: clock).asSingle().flatMap { [self] _ in
        attempt(target, left: left - 1, pause: min(pause * 2, .seconds(5)))
      }
    }
  }

  private func begin() {
    slots.wait()
    tally.withLock { $0.running += 1 }
    showProgress()
  }

  private func end(_ line: ResultLine) {
    tally.withLock { tally in
      tally.running -= 1
      tally.done += 1
      if line.failed { tally.failed += 1 }
    }
    // Nobody reads any more: an ordinary end, `| head -1` for example.
    if !show(line) { _exit(console.exitCode(failures == 0 ? 0 : 1)) }
    showProgress()
  }

  /// False if nobody reads.
  private func show(_ line: ResultLine) -> Bool {
    guard options.raw else { return console.print(line.text) }
    guard let problem = line.problem else { return console.write(line.raw) }
    console.complain(problem)
    return true
  }

  private func showProgress() {
    let tally = tally.withLock { $0 }
    console.progress("\(tally.done) done, \(tally.failed) failed, \(tally.running) running")
  }

  private static func milliseconds(since start: ContinuousClock.Instant) -> Double {
    let elapsed = (ContinuousClock.now - start) / Duration.milliseconds(1)
    return (elapsed * 10).rounded() / 10
  }
}

extension NetworkError {
  /// Whether the same request may succeed a little later.
  fileprivate var mayPass: Bool {
    switch kind {
    case .connection, .timeout: true
    case .status: code == 429 || code >= 500
    default: false
    }
  }
}

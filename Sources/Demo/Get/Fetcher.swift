import NetLayerRecording
import PortableFoundation
import Streams

/// Sends the requests of `Demo get`, up to `concurrency` of them concurrently, and prints their results.
final class Fetcher: Sendable {
  private struct Tally {
    var running = 0
    var done = 0
    var failed = 0
  }

  let options: GetOptions
  let console: Console
  let network: Network
  private let recorder: Recorder?
  private let slots: DispatchSemaphore
  private let running = CompositeDisposable()
  /// The counts of requests, which the main thread and the mapping threads update.
  private let tally = Locked(Tally())

  /// - Throws: `NetworkError` if there is no transport with these options.
  init(_ options: GetOptions, _ console: Console, maxCalls: Int = 100_000) throws {
    self.options = options
    self.console = console
    recorder =
      options.archive == nil
      ? nil : Recorder(maxCalls: maxCalls, maxSize: 128 << 20, maxBodySize: 8 << 20)
    network = try options.request.network(
      concurrency: options.concurrency, envelope: options.envelope ?? Envelope(), retries: options.retries,
      recorder: recorder, console)
    slots = DispatchSemaphore(value: options.concurrency)
  }

  var failures: Int { tally.withLock { $0.failed } }

  /// Fetches the URL in `text`. An invalid URL is a failed result.
  func fetch(_ text: String) {
    do {
      fetch(try Target.url(text))
    } catch {
      let reason = (error as? UsageError)?.message ?? "\(error)"
      begin()
      end(
        ResultLine(
          url: Target.shown(text), error: NetworkError(kind: .invalidRequest, reason: reason), milliseconds: 0))
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
    let subscription = SingleAssignmentDisposable()
    let key = running.insert(subscription)
    let leave: @Sendable () -> Void = { [running, slots] in
      if let key { running.remove(for: key) }
      slots.signal()
    }
    let pages =
      options.followPages
      ? Observable.pages(startingAt: nil) { [self] in page(of: url, at: $0) } : page(of: url, at: nil)
    subscription.setDisposable(
      pages.subscribe(
        onNext: { [self] page in for line in page.items { end(line) } },
        onError: { [self] error in
          tally.withLock { $0.running += 1 }
          end(ResultLine(url: Target.shown(url.absoluteString), error: error, milliseconds: 0))
          leave()
        },
        onCompleted: leave))
  }

  func wait() {
    for _ in 0..<options.concurrency { slots.wait() }
    // A semaphore must not be deallocated below its initial value.
    for _ in 0..<options.concurrency { slots.signal() }
  }

  /// The reason why the HAR file does not contain all calls; `nil` if it does.
  var omission: String? {
    guard let recorder, let archive = options.archive, recorder.dropped > 0 else { return nil }
    return
      "\(archive.path) does not contain the first \(recorder.dropped) calls: the maximum is 100,000 calls or 128 MB; "
      + "fetch fewer URLs at a time"
  }

  /// Writes the HAR file, and returns whether it contains all calls.
  func writeArchive() -> Bool {
    guard let recorder, let archive = options.archive else { return true }
    do {
      try recorder.write(to: archive)
      if let omission { console.complain(omission) }
      return omission == nil
    } catch {
      console.complain(Problem(error).text)
      return false
    }
  }

  func stop() { running.dispose() }

  /// Fetches the page of `url` at `cursor` and emits it as a page of one line. A failure is the last line.
  private func page(of url: URL, at cursor: String?) -> Observable<Page<ResultLine>> {
    let name = (options.envelope ?? Envelope()).cursor ?? "cursor"
    guard let url = cursor == nil ? url : cursor.flatMap({ url.replacingQueryItem(name, with: $0) }) else {
      let reason = "the cursor \(cursor.debugDescription) cannot be added to \(Target.shown(url.absoluteString))"
      return .error(NetworkError(kind: .parse, reason: reason))
    }
    // `begin` has counted the first page.
    if cursor != nil { tally.withLock { $0.running += 1 } }
    let (options, start, text) = (options, ContinuousClock.now, Target.shown(url.absoluteString))
    return network.responses(options.target(url)).asSingle().map { try Reading($0.validated(), options) }
      .map { reading in
        let line = ResultLine(url: text, reading: reading, milliseconds: Self.milliseconds(since: start))
        return Page(items: [line], cursor: reading.cursor)
      }
      .catchError { error in
        let milliseconds = Self.milliseconds(since: start)
        let line = ResultLine(url: text, error: error, milliseconds: milliseconds, showsHeaders: options.showsHeaders)
        return .just(Page(items: [line]))
      }
      .asObservable()
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
    // The output is closed, for example by `| head -1`, which is not an error.
    if !show(line) { _exit(console.exitCode(failures == 0 ? 0 : 1)) }
    showProgress()
  }

  private func show(_ line: ResultLine) -> Bool {
    guard options.raw else { return console.print(json: line.text, isLine: options.request.json) }
    let isOpen = console.write(line.raw)
    if let problem = line.problem { console.complain(problem) }
    return isOpen
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

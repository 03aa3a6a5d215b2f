import PortableFoundation
import Streams

/// A recorder of the last calls of a network: attempts, pauses between them, cache hits, shared calls, decoding times, bodies
/// and errors.
///
/// ```swift
/// let recorder = Recorder()
/// let app = Network(Backend(baseURL: url, interceptors: [RetryInterceptor(), recorder]))
/// // …
/// try recorder.write(to: file)  // a HAR file, which every browser opens
/// ```
/// Its position among the interceptors has no effect, because it observes the whole path of a call. A network uses the
/// first of its recorders. Secrets are replaced when a call is recorded: neither the memory nor a file contains them. A body
/// that is not UTF-8 is kept only if it is an image, a font or an `application/octet-stream`. The transport adds some fields
/// of requests, such as `Host` and cookies, which the recorder does not see.
public final class Recorder: Interceptor, CallObserver, @unchecked Sendable {
  // Safe: the calls are used only on the queue, everything else is a constant or locked.
  private let maxBodySize: Int
  let clock: any SchedulerType
  /// Guards the events that the queue has yet to process, the last number of a call, and whether a batch is scheduled. Every
  /// thread of a call adds to it.
  private let pending = Locked((events: [RecordedCalls.Noted](), number: 0, isScheduled: false))
  private let queue = DispatchQueue(label: "NetLayer.Recorder")
  private var calls: RecordedCalls
  /// The numbers of the calls that have changed since the last batch.
  private var changed: Set<Int> = []
  private let batches = PublishSubject<[Entry]>()

  /// Creates a recorder. It drops the oldest finished calls beyond its limits.
  ///
  /// - Parameters:
  ///   - maxCalls: The maximum number of calls.
  ///   - maxSize: The maximum number of bytes of all calls.
  ///   - maxBodySize: The maximum number of bytes that are kept of each body.
  ///   - redaction: The secrets to hide, in addition to those of the backend; `.none` hides nothing.
  ///   - clock: The clock of the times of calls.
  public init(
    maxCalls: Int = 500, maxSize: Int = 16 << 20, maxBodySize: Int = 64 << 10, redaction: Redaction = .standard,
    clock: any SchedulerType = ConcurrentDispatchQueueScheduler(qos: .utility)
  ) {
    (self.maxBodySize, self.clock) = (max(0, maxBodySize), clock)
    calls = RecordedCalls(
      maxCalls: max(1, maxCalls), maxSize: maxSize, maxBodySize: max(0, maxBodySize), redaction: redaction)
    CallObservation.isUsed.store(true, ordering: .relaxed)
  }

  /// The recorded calls, the oldest first.
  public var entries: [Entry] {
    queue.sync {
      process()
      return calls.all
    }
  }

  /// The recorded calls, and then the calls that have changed: at most ten times a second. An entry replaces the one with
  /// the same number.
  public var updates: Observable<[Entry]> {
    Observable.merge([batches.asObservable(), Observable.deferred { [self] in .just(entries) }])
  }

  /// The changes of the calls after a revision, for the inspector.
  package struct Changes: Sendable {
    /// The number of changes until now.
    package var revision: Int
    /// The calls that have changed, the oldest first.
    package var entries: [Entry]
    /// The numbers of all calls.
    package var numbers: Set<Int>
    /// The number of calls that were dropped because of the limits.
    package var dropped: Int
  }

  /// Returns the changes after a revision, of which 0 is the first.
  package func changes(since revision: Int) -> Changes {
    queue.sync {
      process()
      return calls.changes(since: revision)
    }
  }

  /// Returns the call with a number.
  package subscript(number: Int) -> Entry? {
    queue.sync {
      process()
      return calls[number]
    }
  }

  /// The number of calls that were dropped because of the limits.
  public var dropped: Int {
    queue.sync {
      process()
      return calls.dropped
    }
  }

  /// Removes all calls that have ended.
  public func clear() {
    queue.sync {
      process()
      calls.clear()
    }
  }

  /// Returns the recorded calls as a HAR 1.2 file: an entry for each attempt and each redirect.
  public func har() -> Data { HARWriter.archive(entries.flatMap(\.archived)) }

  /// Writes the recorded calls to a HAR file, which only its owner can read. An existing file is replaced when the new one is
  /// complete.
  ///
  /// - Throws: `NetworkError` of kind `file`.
  public func write(to file: URL) throws(NetworkError) {
    do {
      _ = try HARFile(file, entries: entries.flatMap(\.archived), limit: HARReader.maxSize)
    } catch {
      throw NetworkError(
        kind: .file, reason: "the recording \(file.path) can't be written: \(SystemError.text(of: error))",
        underlying: error)
    }
  }

  /// Sends `request` unchanged.
  public func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> { next(request) }

  /// Adds the number of the call to the context of its request.
  public func prepare(_ request: inout Request) {
    request.context[CallNumber.self] = pending.withLock { pending in
      pending.number += 1
      return pending.number
    }
  }

  func note(_ event: CallEvent, of request: Request) {
    let number = request.context[CallNumber.self]
    guard number > 0 else { return }
    let noted = RecordedCalls.Noted(
      event, number: number, request: request, at: clock.now, uptime: clock.uptime, keeping: maxBodySize)
    let hasObservers = batches.hasObservers
    let (isFirst, schedules) = pending.withLock { pending in
      pending.events.append(noted)
      defer { pending.isScheduled = pending.isScheduled || hasObservers }
      return (pending.events.count == 1, hasObservers && !pending.isScheduled)
    }
    if isFirst { queue.async { [weak self] in self?.process() } }
    if schedules { _ = clock.scheduleRelative(.milliseconds(100)) { [weak self] in self?.emit() } }
  }

  // MARK: The queue

  private func process() {
    let events = pending.withLock { exchange(&$0.events, with: []) }
    let hasObservers = batches.hasObservers
    for event in events {
      calls.apply(event)
      if hasObservers { changed.insert(event.number) }
    }
  }

  /// Emits a batch outside the queue, because the observers may read the entries.
  private func emit() {
    pending.withLock { $0.isScheduled = false }
    let batch = queue.sync {
      process()
      return exchange(&changed, with: []).sorted().compactMap { calls[$0] }
    }
    if !batch.isEmpty { batches.onNext(batch) }
  }
}

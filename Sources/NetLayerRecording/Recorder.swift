import PortableFoundation
import Streams

/// A recorder of the last calls of a network: attempts, pauses between them, cache hits, shared calls, decoding times, bodies
/// and errors.
///
/// ```swift
/// let recorder = Recorder()
/// let app = Network(Backend(baseURL: url, interceptors: [RetryInterceptor(), recorder]))
/// // …
/// try recorder.write(to: file)  // a HAR file, which browsers import
/// ```
/// Its position among the interceptors has no effect, because it is a ``/NetLayer/CallObserver`` of the whole path of a call.
/// Secrets are replaced when a call is recorded: neither the memory nor a file contains them. A body
/// that is not UTF-8 is kept only if it is an image, a font or an `application/octet-stream`, without secrets of texts in
/// Latin-1 or UTF-16. The transport adds some fields of requests, such as `Host` and cookies, which the recorder does not see.
public final class Recorder: CallObserver, @unchecked Sendable {
  // Safe: the calls are used only on the queue, everything else is a constant or locked.
  private let maxBodySize: Int
  private let clock: any SchedulerType
  /// Guards the events that the queue has yet to process. Every thread of a call adds to it.
  private let pending = Locked(Pending())
  private let queue = DispatchQueue(label: "NetLayer.Recorder")
  private var calls: RecordedCalls
  /// Emits after calls have changed, at most ten times a second.
  private let changed = PublishSubject<Void>()

  struct Pending {
    /// The maximum number of events. A recorder that is too slow does not record further calls and messages, because their
    /// bodies would fill the memory.
    static let maxCount = 4_096
    /// The maximum number of bytes of the events, 16 MB.
    static let maxSize = 16 << 20

    var events: [RecordedCalls.Noted] = []
    /// The number of bytes of the events.
    var size = 0
    var skipped = 0
    /// The calls that are not recorded and have no result yet. Nothing is kept of them.
    var skippedCalls: Set<Int> = []
    var isScheduled = false

    mutating func accepts(_ event: CallEvent) -> Bool {
      if skippedCalls.contains(event.call) {
        if [.received, .failed, .cancelled].contains(event.kind) { skippedCalls.remove(event.call) }
        return false
      }
      guard events.count >= Self.maxCount || size > Self.maxSize, event.isOptional else { return true }
      if event.kind == .started {
        skipped += 1
        skippedCalls.insert(event.call)
      }
      return false
    }
  }

  /// Creates a recorder. It drops the oldest finished calls beyond its limits.
  ///
  /// - Parameters:
  ///   - maxCalls: The maximum number of calls.
  ///   - maxSize: The maximum number of bytes of all calls.
  ///   - maxBodySize: The maximum number of bytes that are kept of each body.
  ///   - redaction: The secrets to hide, in addition to those of the backend; `.none` hides nothing.
  ///   - clock: The clock of the times of calls.
  public init(
    maxCalls: Int = 500, maxSize: Int = 16 << 20, maxBodySize: Int = 64 << 10, redaction: Redaction = .inherited,
    clock: any SchedulerType = ConcurrentDispatchQueueScheduler(qos: .utility)
  ) {
    (self.maxBodySize, self.clock) = (max(0, maxBodySize), clock)
    calls = RecordedCalls(
      maxCalls: max(1, maxCalls), maxSize: maxSize, maxBodySize: max(0, maxBodySize), redaction: redaction)
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
    Observable.deferred { [self] in
      // Guards the state that this subscriber has received.
      let last = Locked(Revision?.none)
      // Each subscriber asks for its changes after `merge`, which calls one after the other, so no older state follows.
      return Observable.merge([changed.asObservable(), .just(())]).compactMap { [self] in
        last.withLock { last in
          let changes = changes(since: last ?? Revision())
          let isFirst = exchange(&last, with: changes.revision) == nil
          return isFirst || !changes.entries.isEmpty ? changes.entries : nil
        }
      }
    }
  }

  /// A state of the recorder.
  package struct Revision: Sendable {
    /// The number of changes of calls until now.
    var changes = 0
    /// The number of removed calls until now.
    var removals = 0

    package init() {}
  }

  /// The changes of the calls after a revision, for the inspector.
  package struct Changes: Sendable {
    package var revision: Revision
    package var entries: [Entry]
    /// The numbers of all calls, if calls were removed.
    package var numbers: Set<Int>?
    /// The number of calls that were dropped because of the limits.
    package var dropped: Int
  }

  package func changes(since revision: Revision) -> Changes {
    queue.sync {
      process()
      return calls.changes(since: revision)
    }
  }

  package subscript(number: Int) -> Entry? {
    queue.sync {
      process()
      return calls[number]
    }
  }

  /// The number of calls that were dropped because of the limits, or not recorded because too many happened within a
  /// short time.
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
  /// complete. A symbolic link is replaced, too, and not followed: others may have made it in a directory such as `/tmp`.
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

  /// Records an event.
  public func observe(_ event: CallEvent) {
    let noted = RecordedCalls.Noted(event, at: clock.now, uptime: clock.uptime, keeping: maxBodySize)
    let hasObservers = changed.hasObservers
    let (isFirst, schedules) = pending.withLock { pending in
      guard pending.accepts(event) else { return (false, false) }
      pending.events.append(noted)
      pending.size += noted.size
      defer { pending.isScheduled = pending.isScheduled || hasObservers }
      return (pending.events.count == 1, hasObservers && !pending.isScheduled)
    }
    if isFirst { queue.async { [weak self] in self?.process() } }
    if schedules { _ = clock.scheduleRelative(.milliseconds(100)) { [weak self] in self?.emit() } }
  }

  // MARK: The queue

  private func process() {
    let (events, skipped) = pending.withLock { pending in
      pending.size = 0
      return (exchange(&pending.events, with: []), exchange(&pending.skipped, with: 0))
    }
    for event in events { calls.apply(event) }
    calls.skip(skipped)
  }

  private func emit() {
    pending.withLock { $0.isScheduled = false }
    changed.onNext(())
  }
}

extension CallEvent {
  /// Whether a recorder that is too slow may ignore the event: it starts a call, or is one of many of a stream.
  fileprivate var isOptional: Bool {
    [.started, .chunk, .messageSent, .messageReceived, .event].contains(kind)
  }
}

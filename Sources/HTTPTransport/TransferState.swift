import PortableFoundation
import Streams
import Synchronization

/// The state of one request in a transport, across its redirects. It is also the disposable that cancels the request,
/// and the control of its body. Subclasses run the request.
///
/// Any thread may dispose and resume it, and read whether it is cancelled or disposed. Everything else is reserved for
/// the transport's thread: libcurl's loop, or the session's queue.
// @unchecked Sendable: `state` and the gate are atomic; everything else that changes belongs to the transport's thread.
class TransferState: Cancelable, StreamControl, @unchecked Sendable {
  private static let live: UInt8 = 0
  private static let cancelled: UInt8 = 1
  private static let done: UInt8 = 2
  /// The minimum interval between two reports, in nanoseconds. 20 reports per second look smooth.
  private static let reportInterval: UInt64 = 50_000_000
  private static let nothing = Request(url: URL(filePath: "/"))

  /// Changes once from `live`: to `cancelled` by `dispose`, or to `done` by the transport's thread.
  private let state = Atomic<UInt8>(live)
  private var completion: (@Sendable (Result<Response, NetworkError>) -> Void)?
  private(set) final var currentRequest: Request
  /// The caller's request, if it differs from `currentRequest`.
  private var original: Request?
  private(set) final var trail = RedirectTrail()
  private var isTaken = false
  /// The receiver of a streamed response; `nil` if the response is collected in memory.
  private var receiver: StreamReceiver?
  /// The flow control of the receiver; `nil` if the response is collected in memory.
  final let gate: FlowGate?
  private(set) final var isHeadDelivered = false
  final let maxBodySize: Int?
  final let limits: TimeLimits
  /// Created when the limits are checked first, which short requests are not.
  final lazy var rate = RateCheck(request, isStreamed: gate != nil)
  /// The number of received bytes of the current response's body, and of sent bytes of the request's body.
  final var received = 0
  final var sent: Int64 = 0
  private var progress: ProgressHandler?
  private var lastProgress = TransferProgress()
  private var nextReport: UInt64 = 0
  /// The uptime in nanoseconds at which the request was submitted, and at which the last byte was received or sent.
  final let submittedAt = Deadline.now()
  final var lastActivity: UInt64 = 0

  init(
    _ request: Request, progress: ProgressHandler?, receiver: StreamReceiver?,
    completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) {
    (currentRequest, self.progress, self.receiver, self.completion) = (request, progress, receiver, completion)
    gate = receiver.map { _ in FlowGate() }
    maxBodySize = request.chosenOptions?.value.maxBodySize
    limits = TimeLimits(request.timeouts, head: receiver == nil ? nil : request.context[MayBeSilent.self])
  }

  // MARK: Any thread

  final var isDisposed: Bool { state.load(ordering: .acquiring) != Self.live }

  /// Whether the caller has cancelled. The transport's thread is notified afterwards.
  final var isCancelled: Bool { state.load(ordering: .acquiring) == Self.cancelled }

  final func dispose() {
    let change = state.compareExchange(
      expected: Self.live, desired: Self.cancelled, ordering: .acquiringAndReleasing)
    if change.exchanged { didCancel() }
  }

  final func resume() {
    if let gate, gate.resume() { didResume() }
  }

  /// Notifies the transport's thread of the cancellation.
  func didCancel() {}

  /// Notifies the transport's thread that a pause is over.
  func didResume() {}

  /// Prevents a disposal from reaching the transport. Called before the caller receives the disposable, if the request
  /// is finished elsewhere.
  final func ignoreDisposal() { state.store(Self.done, ordering: .releasing) }

  // MARK: The transport's thread

  final var request: Request { original ?? currentRequest }

  /// Returns the caller's request and releases it, so that it is moved into a response without a copy.
  final func takeRequest() -> Request {
    var taken = Self.nothing
    swap(&taken, &currentRequest)
    isTaken = true
    return original ?? taken
  }

  /// Returns the name of the limit for silence, before the head or after it.
  final func nameOfSilence(_ hasHead: Bool) -> String {
    hasHead && request.context[MayBeSilent.self] != nil ? "silence" : "Timeouts.idle"
  }

  final var hostAndPort: String { currentRequest.url.hostAndPort }

  /// Continues with `next`, the target of the last redirect in `trail`.
  func follow(_ next: Request, _ trail: RedirectTrail) {
    original = original ?? currentRequest
    (currentRequest, self.trail) = (next, trail)
  }

  /// Delivers the head of the final response, if the caller receives it separately.
  final func deliverHead(_ status: Int, _ headers: @autoclosure () -> HTTPHeaders) {
    guard let receiver, !isHeadDelivered, !isCancelled else { return }
    isHeadDelivered = true
    receiver.head(
      Response(
        request: request, url: currentRequest.url, status: status, headers: headers(), redirects: trail.redirects))
  }

  /// Delivers a chunk of the body, unless the request is cancelled.
  final func deliver(_ chunk: @autoclosure () -> Data) {
    guard let receiver, let gate, !isCancelled else { return }
    _ = gate.deliver(chunk(), to: receiver.chunk)
  }

  final var reportsProgress: Bool { progress != nil }

  /// Reports `new` if it differs from the last report, at most every 50 ms; a `last` report is not delayed.
  final func report(_ new: TransferProgress, at now: UInt64, last: Bool = false) {
    guard let progress, last || now >= nextReport else { return }
    let new = new.following(lastProgress)
    guard new != lastProgress else { return }
    lastProgress = new
    nextReport = now &+ Self.reportInterval
    progress(new)
  }

  final var isFinished: Bool { completion == nil }

  /// Calls the completion and releases everything that the disposable does not need; later calls have no effect.
  func finish(_ result: Result<Response, NetworkError>) {
    guard let completion else { return }
    (self.completion, progress, receiver, original) = (nil, nil, nil, nil)
    state.store(Self.done, ordering: .releasing)
    if !isTaken { currentRequest = Self.nothing }
    completion(result)
  }
}

/// The time limits of a request in nanoseconds, converted once; `Deadline.never` for no limit.
struct TimeLimits: Sendable {
  let connect: UInt64
  let idle: UInt64
  /// The limit for silence before the head.
  let head: UInt64
  let attempt: UInt64

  init(_ limits: Request.Timeouts, head stream: MayBeSilent? = nil) {
    (connect, idle) = (Deadline.span(limits.connect), Deadline.span(limits.idle))
    head = stream.map { Deadline.span($0.head) } ?? idle
    attempt = Deadline.span(limits.attempt)
  }
}

/// Points in time as uptime in nanoseconds.
enum Deadline {
  static let never = UInt64.max

  static func now() -> UInt64 {
    #if canImport(Darwin)
      return clock_gettime_nsec_np(CLOCK_UPTIME_RAW)
    #else
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC, &time)
      return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    #endif
  }

  static func span(_ limit: Duration?) -> UInt64 { limit?.inNanoseconds ?? never }

  /// Returns the point in time `span` nanoseconds after `start`; `never` for a span of `never`.
  static func after(_ span: UInt64, from start: UInt64) -> UInt64 {
    let (end, overflow) = start.addingReportingOverflow(span)
    return overflow ? never : end
  }
}

import PortableFoundation
import Streams
import Synchronization

/// One request on its way through a transport, over all its hops; also the disposable that cancels it and the control of its
/// body. A subclass has what runs it.
///
/// Any thread may dispose and resume it, and ask whether it is cancelled or disposed. All else is for the transport's
/// thread alone: libcurl's loop, or the session's queue.
// @unchecked Sendable: `state` and the gate are atomic; everything else that changes belongs to the transport's thread.
class TransferState: Cancelable, StreamControl, @unchecked Sendable {
  private static let live: UInt8 = 0
  private static let cancelled: UInt8 = 1
  private static let done: UInt8 = 2
  /// 20 reports a second are as smooth as an eye can see.
  private static let reportInterval: UInt64 = 50_000_000
  private static let nothing = Request(url: URL(filePath: "/"))

  /// Left `live` once: by the disposer to `cancelled`, by the transport's thread to `done`.
  private let state = Atomic<UInt8>(live)
  private var completion: (@Sendable (Result<Response, NetworkError>) -> Void)?
  /// What goes over the wire now.
  private(set) final var currentRequest: Request
  /// What the caller asked for, where that is not `hop`.
  private var original: Request?
  /// The redirects before.
  private(set) final var trail = RedirectTrail()
  private var isTaken = false
  /// What takes the response as it comes in, where it is not collected in memory.
  private var receiver: ResponseReceiver?
  /// Whether that takes more; `nil` where the response is collected.
  final let gate: FlowGate?
  private(set) final var isHeadDelivered = false
  /// The most bytes that the body may have, if the request says so.
  final let maxBodySize: Int?
  /// How much of the hop's body has come in, and how much of the request's has gone.
  final var received = 0
  final var sent: Int64 = 0
  private var progress: ProgressHandler?
  private var lastProgress = TransferProgress()
  private var nextReport: UInt64 = 0
  /// When it was submitted, and when the last byte came in or went out: uptime in nanoseconds.
  final let submittedAt = Deadline.now()
  final var lastActivity: UInt64 = 0

  init(
    _ request: Request, progress: ProgressHandler?, receiver: ResponseReceiver?,
    completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) {
    (currentRequest, self.progress, self.receiver, self.completion) = (request, progress, receiver, completion)
    gate = receiver.map { _ in FlowGate() }
    maxBodySize = request.chosenOptions?.value.maxBodySize
  }

  // MARK: Any thread

  final var isDisposed: Bool { state.load(ordering: .acquiring) != Self.live }

  /// Whether the caller has cancelled; the transport's thread then hears of it in its turn.
  final var isCancelled: Bool { state.load(ordering: .acquiring) == Self.cancelled }

  final func dispose() {
    let change = state.compareExchange(
      expected: Self.live, desired: Self.cancelled, ordering: .acquiringAndReleasing)
    if change.exchanged { didCancel() }
  }

  final func resume() {
    if let gate, gate.resume() { didResume() }
  }

  /// Tells the transport's thread of the cancellation.
  func didCancel() {}

  /// Tells the transport's thread that a pause is over.
  func didResume() {}

  /// Keeps a disposal from reaching the transport, before the flight is handed out: it is finished elsewhere.
  final func refuse() { state.store(Self.done, ordering: .releasing) }

  // MARK: The transport's thread

  /// What the caller asked for.
  final var request: Request { original ?? currentRequest }

  /// Gives what the caller asked for, and keeps nothing of it: moved into a response, it need not be copied.
  final func takeRequest() -> Request {
    var taken = Self.nothing
    swap(&taken, &currentRequest)
    isTaken = true
    return original ?? taken
  }

  /// Host and port of the current hop.
  final var place: String { currentRequest.url.hostAndPort }

  /// Goes on with `next`, where the last redirect of `trail` leads.
  func follow(_ next: Request, _ trail: RedirectTrail) {
    original = original ?? currentRequest
    (currentRequest, self.trail) = (next, trail)
  }

  /// Hands on the head of the response that is the caller's, where it is waited for.
  final func deliverHead(_ status: Int, _ headers: @autoclosure () -> HTTPHeaders) {
    guard let receiver, !isHeadDelivered, !isCancelled else { return }
    isHeadDelivered = true
    receiver.head(
      Response(
        request: request, url: currentRequest.url, status: status, headers: headers(), redirects: trail.redirects))
  }

  /// Hands on a piece of the body; what a cancelled one still reads is of no use.
  final func deliver(_ chunk: @autoclosure () -> Data) {
    guard let receiver, let gate, !isCancelled else { return }
    _ = gate.deliver(chunk(), to: receiver.chunk)
  }

  /// Whether anyone hears how far it is.
  final var reportsProgress: Bool { progress != nil }

  /// Reports `new` if it differs from what was said, now and then; at once if it is the `last` one.
  final func report(_ new: TransferProgress, at now: UInt64, last: Bool = false) {
    guard let progress, last || now >= nextReport else { return }
    let new = new.following(lastProgress)
    guard new != lastProgress else { return }
    lastProgress = new
    nextReport = now &+ Self.reportInterval
    progress(new)
  }

  /// Whether the completion has been called.
  final var isFinished: Bool { completion == nil }

  /// Calls the completion and lets go of everything the disposable's owner has no use for; later calls do nothing.
  func finish(_ result: Result<Response, NetworkError>) {
    guard let completion else { return }
    (self.completion, progress, receiver, original) = (nil, nil, nil, nil)
    state.store(Self.done, ordering: .releasing)
    if !isTaken { currentRequest = Self.nothing }
    completion(result)
  }
}

/// Points in time as uptime in nanoseconds; a limit that is not a positive number never passes.
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

  static func after(_ seconds: Double, from start: UInt64) -> UInt64 {
    // 10^9 seconds are thirty years: far enough, and far from overflow.
    seconds > 0 && seconds < 1e9 ? start + UInt64(seconds * 1e9) : never
  }
}

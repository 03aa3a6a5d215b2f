#if canImport(CCurl)
  import Foundation
  import Streams
  import Synchronization

  /// One request on its way through the loop, over all its hops; also the disposable that cancels it and the
  /// control of its body.
  // @unchecked Sendable: `state` is atomic; everything that changes is touched by the loop's thread alone, to which the
  // inbox hands the transfer over.
  final class CurlTransfer: Cancelable, StreamControl, @unchecked Sendable {
    private static let live: UInt8 = 0
    private static let cancelled: UInt8 = 1
    private static let done: UInt8 = 2

    private let state = Atomic<UInt8>(live)
    let loop: CurlLoop
    private var completion: (@Sendable (Result<Response, NetworkError>) -> Void)?

    /// The links of the inbox's stacks: written before a push, read behind the loop's exchange.
    var nextSubmitted: UInt = 0
    var nextCancelled: UInt = 0
    var nextResumed: UInt = 0
    /// Whether it is in the stack of those to be resumed.
    let isResuming = Atomic<Bool>(false)

    /// What goes over the wire now.
    private(set) var hop: Request
    private(set) var hopURL: String
    /// The redirects before.
    private(set) var trail = RedirectTrail()
    /// What the caller asked for, where that is not `hop`.
    private var original: Request?
    /// Whether its hop is libcurl's to send again where a connection dies: by its method and its body.
    var maySendTwice: Bool { hop.method.isIdempotent && hop.body.isRepeatable }
    /// Whether this hop is sent a second time, over a connection of its own.
    var isRepetition = false
    /// How often this hop was sent again because the server had not processed it.
    var unprocessed = 0
    /// How often a request is sent again that was not processed: as often as libcurl itself does.
    static let maxUnprocessed = 5
    /// Why it must not be sent at all.
    let refusal: NetworkError?
    /// The body as it is read, where it is in files.
    private(set) var files: Request.BodyStream?

    /// Where it waits and counts; `nil` before admission.
    var lane: CurlLoop.Queue.Lane?
    var isWaiting = false
    /// What runs it; `nil` while it waits.
    var handle: CurlHandle?
    /// Its place in the loop's list of live transfers.
    var index = -1
    /// Uptime in nanoseconds when the total limit is reached.
    let totalDeadline: UInt64
    /// What takes the answer as it comes in, where it is not collected in memory.
    private var receiver: ResponseReceiver?
    /// Whether that takes more; `nil` where the answer is collected.
    let gate: FlowGate?
    /// What hears how far it is.
    private var progress: (@Sendable (TransferProgress) -> Void)?
    private var lastProgress = TransferProgress()
    private var nextReport: UInt64 = 0
    /// 20 reports a second are as smooth as an eye can see.
    private static let reportInterval: UInt64 = 50_000_000

    /// When it was submitted, and when it first went to libcurl, uptime in nanoseconds.
    let submittedAt = Deadline.now()
    var startedAt: UInt64?
    let priority: Request.Priority
    let maxBodySize: Int?
    private var received = 0
    private var sent: Int64 = 0
    private var isHeadDelivered = false

    /// Uptime in nanoseconds of the last byte in or out, as of the loop's turn.
    var lastActivity: UInt64 = 0

    init(
      _ request: Request, loop: CurlLoop, progress: (@Sendable (TransferProgress) -> Void)? = nil,
      receiver: ResponseReceiver? = nil,
      completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
    ) {
      // Checked and spelled out on the caller's thread: the loop's has enough to do.
      hopURL = request.url.absoluteString
      var refusal = RequestCheck.failure(of: request, url: hopURL)
      do {
        if refusal == nil { files = try Request.BodyStream(filesOf: request) }
      } catch {
        refusal = error
      }
      self.refusal = refusal
      let options = request.chosenOptions?.value
      priority = options?.priority ?? .normal
      maxBodySize = options?.maxBodySize
      totalDeadline = Deadline.after(request.timeouts.total, from: submittedAt)
      hop = request
      self.loop = loop
      self.progress = progress
      self.receiver = receiver
      gate = receiver.map { _ in FlowGate() }
      self.completion = completion
    }

    /// What the caller asked for.
    var request: Request { original ?? hop }

    /// Goes on with `next`, where the last redirect of `trail` leads.
    func follow(_ next: Request, _ trail: RedirectTrail) {
      original = original ?? hop
      hop = next
      hopURL = next.url.absoluteString
      self.trail = trail
      isRepetition = false
      unprocessed = 0
    }

    /// Gives what the caller asked for, and keeps nothing of it: moved into an answer, it need not be copied.
    func takeRequest() -> Request {
      var taken = Self.nothing
      swap(&taken, &hop)
      isTaken = true
      return original ?? taken
    }

    private var isTaken = false
    private static let nothing = Request(url: URL(filePath: "/"))

    var isDisposed: Bool { state.load(ordering: .acquiring) != Self.live }

    /// Whether the caller has cancelled; the loop then hears of it through its inbox.
    var isCancelled: Bool { state.load(ordering: .acquiring) == Self.cancelled }

    func dispose() {
      let change = state.compareExchange(
        expected: Self.live, desired: Self.cancelled, ordering: .acquiringAndReleasing)
      if change.exchanged { loop.cancel(self) }
    }

    func resume() {
      if let gate, gate.resume() { loop.resume(self) }
    }

    /// Hands on the head of the answer that is the caller's, where it is waited for.
    func deliverHead(_ response: () -> Response) {
      guard let receiver, !isHeadDelivered, !isCancelled else { return }
      isHeadDelivered = true
      receiver.head(response())
    }

    /// Hands a piece of the body on; `false` when there is more than allowed.
    func deliver(_ bytes: UnsafeRawPointer, _ length: Int) -> Bool {
      received += length
      guard received <= maxBodySize ?? .max else { return false }
      // What a cancelled one still reads in this turn of the loop is of no use.
      guard let receiver, let gate, !isCancelled else { return true }
      _ = gate.deliver(Data(bytes: bytes, count: length), to: receiver.chunk)
      return true
    }

    /// Goes on behind a wait for the request's own body.
    func goOn() { loop.resume(self) }

    /// Keeps a disposal from reaching the loop, before the transfer is handed out: it is finished elsewhere.
    func refuse() { state.store(Self.done, ordering: .releasing) }

    func unlinkSubmitted() -> UInt {
      defer { nextSubmitted = 0 }
      return nextSubmitted
    }

    func unlinkCancelled() -> UInt {
      defer { nextCancelled = 0 }
      return nextCancelled
    }

    func unlinkResumed() -> UInt {
      defer {
        nextResumed = 0
        isResuming.store(false, ordering: .releasing)
      }
      return nextResumed
    }

    /// Notes that a byte came in or went out.
    func touch() { lastActivity = loop.now }

    /// Notes how much of the body has gone: libcurl asks for 64 KB at a time, between which it may take long.
    func noteSent(_ count: Int64) {
      guard count != sent else { return }
      sent = count
      touch()
    }

    /// Notes that a final head has come in while the request's body may still go out.
    func noteEarlyResponse() { loop.noteEarlyResponse(self) }

    /// Whether anyone hears how far it is.
    var reportsProgress: Bool { progress != nil }

    /// Reports `new` if it differs from what was said, now and then; at once if it is the `last` one.
    func report(_ new: TransferProgress, last: Bool = false) {
      guard let progress, last || loop.now >= nextReport else { return }
      let new = new.following(lastProgress)
      guard new != lastProgress else { return }
      lastProgress = new
      nextReport = loop.now &+ Self.reportInterval
      progress(new)
    }

    /// Why the hop must not be sent again when a kept connection was closed under it; `nil` where it may, which is once.
    ///
    /// A POST may have been carried out by then (RFC 9110 §9.2.2), and so may what is sent by a method that is not known.
    /// A key for it changes nothing here: a repetition of that kind is the retry's to decide.
    func obstacleToRepetition(wasSent: Bool = true, isBodyTaken: Bool = true) -> String? {
      if wasSent, !hop.method.isIdempotent { return "its method is not idempotent and it may have been carried out" }
      if isBodyTaken, !hop.body.isRepeatable {
        return "its body exists once; give a BodyStream that can be repeated"
      }
      if !wasSent { return unprocessed < Self.maxUnprocessed ? nil : "that was done \(unprocessed) times before" }
      return isRepetition ? "that was done before" : nil
    }

    /// What it has taken where no handle runs it: so far it has waited, but for the hops before.
    var metricsWithoutHandle: TransferMetrics {
      let now = Deadline.now()
      func since(_ start: UInt64, _ end: UInt64) -> Double { end > start ? Double(end - start) / 1e9 : 0 }
      return TransferMetrics(
        queued: since(submittedAt, startedAt ?? now), total: since(submittedAt, now),
        redirects: trail.redirects.count)
    }

    /// Whether the current hop goes over TLS.
    var isSecure: Bool { hopURL.utf8.dropFirst(4).first.map { $0 | 0x20 == 0x73 } ?? false }

    /// Whether the completion has been called.
    var isFinished: Bool { completion == nil }

    /// Calls the completion and lets go of everything the disposable's owner has no use for; later calls do nothing.
    func finish(_ result: Result<Response, NetworkError>) {
      guard let completion else { return }
      self.completion = nil
      progress = nil
      receiver = nil
      files = nil
      state.store(Self.done, ordering: .releasing)
      original = nil
      if !isTaken { hop = Self.nothing }
      hopURL = ""
      completion(result)
    }
  }

  /// Points in time as uptime in nanoseconds; a limit that is no positive number never passes.
  enum Deadline {
    static let never = UInt64.max

    static func now() -> UInt64 {
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC, &time)
      return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }

    static func after(_ seconds: Double, from start: UInt64) -> UInt64 {
      // 10^9 seconds are thirty years: far enough, and far from overflow.
      seconds > 0 && seconds < 1e9 ? start + UInt64(seconds * 1e9) : never
    }
  }
#endif

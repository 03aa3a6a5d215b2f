#if canImport(CCurl)
  import PortableFoundation
  import Streams
  import Synchronization

  /// One request on its way through the loop.
  // @unchecked Sendable: as its superclass says; the inbox hands the transfer over to the loop's thread.
  final class CurlTransfer: TransferState, HostQueue.Item, @unchecked Sendable {
    let loop: CurlLoop

    /// The links of the inbox's stacks: written before a push, read behind the loop's exchange.
    var nextSubmitted: UInt = 0
    var nextCancelled: UInt = 0
    var nextResumed: UInt = 0
    /// Whether it is in the stack of those to be resumed: set by whoever pushes it, cleared by the loop.
    let isResuming = Atomic<Bool>(false)

    private(set) var hopURL: String
    /// Whether its hop is libcurl's to send again where a connection dies: by its method and its body.
    var maySendTwice: Bool { currentRequest.method.isIdempotent && currentRequest.body.isRepeatable }
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

    var hasEnded: Bool { isFinished }
    /// Where it waits and counts; `nil` before admission.
    var lane: HostQueue.Lane?
    var isWaiting = false
    /// What runs it; `nil` while it waits.
    var handle: CurlHandle?
    /// Its place in the loop's list of live transfers.
    var index = -1
    /// Uptime in nanoseconds when the total limit is reached.
    private(set) var totalDeadline = Deadline.never
    /// When it first went to libcurl, uptime in nanoseconds.
    var startedAt: UInt64?
    let priority: Request.Priority

    init(
      _ request: Request, loop: CurlLoop, progress: ProgressHandler? = nil, receiver: ResponseReceiver? = nil,
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
      self.refusal = refusal ?? CurlLibrary.failure(of: request)
      self.loop = loop
      priority = request.chosenOptions?.value.priority ?? .normal
      super.init(request, progress: progress, receiver: receiver, completion: completion)
      totalDeadline = Deadline.after(request.timeouts.total, from: submittedAt)
    }

    override func follow(_ next: Request, _ trail: RedirectTrail) {
      super.follow(next, trail)
      hopURL = next.url.absoluteString
      isRepetition = false
      unprocessed = 0
    }

    override func didCancel() { loop.cancel(self) }

    /// Goes on behind a pause, or a wait for the request's own body.
    override func didResume() { loop.resume(self) }

    /// Hands a piece of the body on; `false` when there is more than allowed.
    func deliver(_ bytes: UnsafeRawPointer, _ length: Int) -> Bool {
      received += length
      guard received <= maxBodySize ?? .max else { return false }
      deliver(Data(bytes: bytes, count: length))
      return true
    }

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

    /// Why the hop must not be sent again when a kept connection was closed under it; `nil` where it may, which is once.
    ///
    /// A POST may have been carried out by then (RFC 9110 §9.2.2), and so may what is sent by a method that is not known.
    /// A key for it changes nothing here: a repetition of that kind is the retry's to decide.
    func obstacleToRepetition(wasSent: Bool = true, isBodyTaken: Bool = true) -> String? {
      if wasSent, !currentRequest.method.isIdempotent {
        return "its method is not idempotent and it may have been carried out"
      }
      if isBodyTaken, !currentRequest.body.isRepeatable {
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

    /// The version of HTTP that the caller asks for.
    var httpVersion: Request.HTTPVersion { currentRequest.chosenOptions?.value.httpVersion ?? .automatic }

    /// Whether the current hop is sent as HTTP/2 without TLS.
    var isCleartextHTTP2: Bool { httpVersion == .http2PriorKnowledge && !isSecure }

    /// Whether the current hop may share its connection with others.
    var mayMultiplex: Bool { isSecure || isCleartextHTTP2 }

    override func finish(_ result: Result<Response, NetworkError>) {
      (files, hopURL) = (nil, "")
      super.finish(result)
    }
  }
#endif

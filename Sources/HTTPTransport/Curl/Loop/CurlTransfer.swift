#if canImport(CLibcurl)
  import PortableFoundation
  import Streams
  import Synchronization

  /// The state of one request in the loop.
  // @unchecked Sendable: for the same reason as its superclass; the inbox passes the transfer to the loop's thread.
  final class CurlTransfer: TransferState, HostQueue.Item, CurlInboxEntry, @unchecked Sendable {
    let loop: CurlLoop

    /// The links of the inbox's stacks: written before a push, and read after the loop has taken the stack.
    var nextSubmitted: UInt = 0
    var nextCancelled: UInt = 0
    var nextResumed: UInt = 0
    /// `true` while it is in the stack of resumed transfers. Set by the thread that pushes it, cleared by the loop.
    let isResuming = Atomic<Bool>(false)

    private(set) var currentURL: String
    /// Whether libcurl may resend the current request after a lost connection, according to its method and body.
    var maySendTwice: Bool { currentRequest.method.isIdempotent && currentRequest.body.isRepeatable }
    /// Whether the current request needs a new connection, because a kept one was lost or refused.
    var needsNewConnection = false
    /// The number of times that the current request was sent, and that a connection was refused before it was sent.
    var sends = 0
    var refusals = 0
    /// The maximum number of sends over HTTP/2, and of refused connections.
    private static let (maxSends, maxRefusals) = (3, 5)
    var isLastSend: Bool { sends == Self.maxSends - 1 }
    /// The error of an invalid request, which must not be sent.
    let requestFailure: NetworkError?
    /// The body as a stream, if it is in files.
    private(set) var files: Request.BodyStream?

    var hasEnded: Bool { isFinished }
    /// The lane of the origin; `nil` before admission.
    var lane: HostQueue.Lane?
    var isWaiting = false
    /// The handle that runs the transfer; `nil` while it waits.
    var handle: CurlHandle?
    /// The index in the loop's list of live transfers.
    var index = -1
    /// The uptime in nanoseconds at which the limit of the attempt expires.
    private(set) var totalDeadline = Deadline.never
    /// The uptime in nanoseconds at which the transfer was first passed to libcurl.
    var startedAt: UInt64?
    let priority: Request.Priority

    init(
      _ request: Request, loop: CurlLoop, progress: ProgressHandler? = nil, receiver: StreamReceiver? = nil,
      completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
    ) {
      // The checks run on the caller's thread, to relieve the loop.
      currentURL = request.url.absoluteString
      var requestFailure = RequestCheck.failure(of: request, url: currentURL)
      do {
        if requestFailure == nil { files = try Request.BodyStream(filesOf: request) }
      } catch {
        requestFailure = error
      }
      self.requestFailure =
        requestFailure ?? CurlLibrary.failure(of: request) ?? loop.configuration.directory.failure(of: request)
      self.loop = loop
      priority = request.chosenOptions?.value.priority ?? .normal
      super.init(request, progress: progress, receiver: receiver, completion: completion)
      totalDeadline = Deadline.after(limits.attempt, from: submittedAt)
    }

    override func follow(_ next: Request, _ trail: RedirectTrail) {
      super.follow(next, trail)
      currentURL = next.url.absoluteString
      needsNewConnection = false
      sends = 0
      refusals = 0
    }

    override func didCancel() { loop.cancel(self) }

    /// Continues after a pause, or after a wait for the request's body.
    override func didResume() { loop.resume(self) }

    /// Delivers a chunk of the body. Returns `false` if the body exceeds its limit.
    func deliver(_ bytes: UnsafeRawPointer, _ length: Int) -> Bool {
      received += length
      guard received <= maxBodySize ?? .max else { return false }
      deliver(Data(bytes: bytes, count: length))
      return true
    }

    func unlinkResumed() -> UInt {
      let next = nextResumed
      // Not a plain store, so that the loop then sees the end of a pause that a consumer has set before it read this flag.
      _ = isResuming.exchange(false, ordering: .acquiringAndReleasing)
      return next
    }

    func touch() { lastActivity = loop.now }

    /// Records the sent bytes of the body. libcurl requests 64 KB at a time, possibly with long gaps.
    func noteSent(_ count: Int64) {
      guard count != sent else { return }
      sent = count
      touch()
    }

    /// Returns the reason not to send the current request again; `nil` if it may be sent again.
    ///
    /// The server may have processed a POST by then (RFC 9110 §9.2.2), and also a request with an unknown method. An
    /// idempotency key makes no difference here, because `RetryInterceptor` handles it.
    func obstacleToRepetition(_ fate: CurlFate, isBodyTaken: Bool) -> String? {
      if fate != .notSent, !currentRequest.method.isIdempotent {
        return "its method is not idempotent and the server may have processed it"
      }
      if isBodyTaken, !currentRequest.body.isRepeatable {
        return "its body can be sent only once; use a repeatable BodyStream"
      }
      if fate == .notSent { return refusals < Self.maxRefusals ? nil : "\(refusals) connections were lost before it" }
      // Over HTTP/1.1, the new connection of the second send is used for no other request.
      return sends < (mayMultiplex ? Self.maxSends : 2) ? nil : "it was already sent \(sends) times"
    }

    /// The measurements of a transfer without a handle: the wait, and the redirects so far.
    var metricsWithoutHandle: TransferMetrics {
      let now = Deadline.now()
      func since(_ start: UInt64, _ end: UInt64) -> Duration { end > start ? .nanoseconds(end - start) : .zero }
      return TransferMetrics(
        queued: since(submittedAt, startedAt ?? now), total: since(submittedAt, now),
        redirects: trail.redirects.count)
    }

    var httpVersion: Request.HTTPVersion { currentRequest.chosenOptions?.value.httpVersion ?? .automatic }

    var isCleartextHTTP2: Bool { httpVersion == .http2 && !isSecure }

    /// Whether the current request may share its connection with others.
    var mayMultiplex: Bool { httpVersion == .http2 || httpVersion == .http3 }

    override func finish(_ result: Result<Response, NetworkError>) {
      (files, currentURL) = (nil, "")
      super.finish(result)
    }
  }
#endif

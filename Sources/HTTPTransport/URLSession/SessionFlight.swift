import Foundation
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// One request on its way through a session, over all its hops.
// @unchecked Sendable: everything that changes is touched on the session's serial queue alone.
final class SessionFlight: @unchecked Sendable {
  let request: Request
  var hop: Request
  /// The redirects before.
  var trail = RedirectTrail()
  /// The `Cookie` field of the jar's that the hop was sent with.
  var cookiesSent: String?
  var task: URLSessionDataTask?
  var response: HTTPURLResponse?
  /// Whether the head has been looked at, and where it leads to if that is elsewhere.
  var isDecided = false
  var redirect: RedirectPolicy.Decision?
  /// How much of the body has arrived.
  var received = 0
  /// The most that may arrive, if the request says so.
  let maxBodySize: Int?
  /// The body to send, where it had to go to a file first.
  var spool: BodySpool?
  /// What writes that, while no server can answer.
  var spooler: BodySpooler?
  /// Whether the task was suspended.
  var isSuspended = false
  /// Set by the disposer at once, before the queue hears of it: no chunk follows.
  let isCancelled = Atomic<Bool>(false)
  /// Whether the consumer takes more; `nil` where the answer is collected.
  let gate: FlowGate?
  private var receiver: ResponseReceiver?
  private var isHeadDelivered = false
  /// What has arrived: the whole body, or what the consumer has not taken yet.
  private var body = Data()
  /// The success that waits until the consumer has taken everything.
  private var success: Response?
  let started = DispatchTime.now()
  var lastActivity = DispatchTime.now()
  /// Which look at the limits is the newest: an older one has been overtaken.
  var watch = 0
  private var progress: (@Sendable (TransferProgress) -> Void)?
  private var lastProgress = TransferProgress()
  private var nextReport = DispatchTime.now()
  private var sent: Int64 = 0
  private var toSend: Int64?
  private var completion: (@Sendable (Result<Response, NetworkError>) -> Void)?

  init(
    _ request: Request, progress: (@Sendable (TransferProgress) -> Void)? = nil,
    receiver: ResponseReceiver? = nil,
    completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) {
    self.request = request
    self.progress = progress
    self.receiver = receiver
    gate = receiver.map { _ in FlowGate() }
    self.maxBodySize = request.chosenOptions?.value.maxBodySize
    self.completion = completion
    hop = request
  }

  var isFinished: Bool { completion == nil }

  /// Gets ready for the next hop.
  func restart() {
    response = nil
    isDecided = false
    redirect = nil
    received = 0
    body = Data()
  }

  /// Hands on the head of the answer that is the caller's, where it is waited for.
  func deliverHead(_ headers: HTTPHeaders) {
    guard let receiver, let response, !isHeadDelivered else { return }
    isHeadDelivered = true
    if !isCancelled.load(ordering: .acquiring) {
      receiver.head(
        Response(
          request: request, url: hop.url, status: response.statusCode, headers: headers, redirects: trail.redirects))
    }
    drain()
  }

  /// Takes a piece of the body; `false` when what is kept grows larger than allowed.
  func take(_ data: Data, maxBodySize: Int) -> Bool {
    // What is collected, or what a paused consumer has not taken, is in memory.
    let isCollected = receiver == nil && self.maxBodySize != nil
    guard received <= self.maxBodySize ?? .max, isCollected || data.count <= maxBodySize - body.count else {
      return false
    }
    body.append(data)
    drain()
    return true
  }

  /// Hands the body's consumer what it takes, and ends when that was the last.
  func drain() {
    if let receiver, let gate, isHeadDelivered, !gate.isPaused, !body.isEmpty, !isCancelled.load(ordering: .acquiring) {
      let chunk = body
      body = Data()
      _ = gate.deliver(chunk, to: receiver.chunk)
    }
    if let success, body.isEmpty { finish(.success(success)) }
  }

  /// Ends with the answer that has come in.
  func succeed(_ headers: HTTPHeaders) {
    deliverHead(headers)
    let status = response?.statusCode ?? 0
    var result = Response(
      request: request, url: hop.url, status: status, headers: headers, metrics: metrics, redirects: trail.redirects)
    if receiver == nil {
      result.body = body
      return finish(.success(result))
    }
    success = result
    drain()
  }

  /// Notes what the session says of the request's body.
  func noteSent(_ sent: Int64, of toSend: Int64) {
    self.sent = sent
    self.toSend = toSend > 0 ? toSend : nil
    report()
  }

  /// Reports how far it is, at most every 50 ms: 20 reports a second are as smooth as an eye can see.
  func report(last: Bool = false) {
    guard let progress else { return }
    let received = Int64(self.received)
    let expected = response?.expectedContentLength ?? -1
    let new = TransferProgress(
      sent: sent, toSend: toSend ?? (last ? sent : nil), received: received,
      toReceive: last ? received : expected > 0 ? expected : nil
    ).following(lastProgress)
    let now = DispatchTime.now()
    guard new != lastProgress, last || now >= nextReport else { return }
    lastProgress = new
    nextReport = now + 0.05
    progress(new)
  }

  private var metrics: TransferMetrics {
    TransferMetrics(
      total: Double(DispatchTime.now().uptimeNanoseconds - started.uptimeNanoseconds) / 1e9, bytesSent: sent,
      bytesReceived: Int64(received), redirects: trail.redirects.count)
  }

  /// Calls the completion; later calls do nothing.
  func finish(_ result: Result<Response, NetworkError>) {
    let completion = completion
    self.completion = nil
    let result = result.mapError { error in
      var error = error
      error.metrics = metrics
      return error
    }
    task = nil
    body = Data()
    success = nil
    spool = nil
    spooler?.stop()
    spooler = nil
    receiver = nil
    progress = nil
    completion?(result)
  }

  /// The limit reached at `now`, if any, and else when to look again.
  func limit(at now: DispatchTime) -> (reached: NetworkError?, next: DispatchTime) {
    let limits = request.timeouts
    // The session does not tell when a connection stands: no limit for a part means none for both.
    let isLimited = response != nil || limits.connect > 0
    let silence = isLimited && limits.idle > 0 ? limits.idle + (response == nil ? limits.connect : 0) : 0
    let total = Self.point(started, after: limits.total)
    let idle = Self.point(gate?.isPaused == true ? now : lastActivity, after: spooler == nil ? silence : 0)
    if now >= total { return (timeout("had not answered completely after \(limits.total) s (Timeouts.total)"), total) }
    if now >= idle {
      let name = response == nil ? "Timeouts.connect + Timeouts.idle" : "Timeouts.idle"
      return (timeout("was silent for \(silence) s (\(name))"), idle)
    }
    return (nil, Swift.min(total, idle))
  }

  private func timeout(_ what: String) -> NetworkError {
    NetworkError(
      kind: .timeout, reason: "\(place) \(what); raise it or look at the server", request: request)
  }

  /// Host and port of the current hop.
  var place: String { hop.url.hostAndPort }

  private static func point(_ start: DispatchTime, after seconds: Double) -> DispatchTime {
    seconds > 0 && seconds < 1e9 ? start + seconds : .distantFuture
  }
}

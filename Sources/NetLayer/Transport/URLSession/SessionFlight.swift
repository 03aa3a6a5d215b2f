import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// One request on its way through a session, over all its hops.
// @unchecked Sendable: everything that changes is touched on the session's serial queue alone.
final class SessionFlight: @unchecked Sendable {
  let request: Request
  var hop: Request
  var hops = 0
  var task: URLSessionDataTask?
  var response: HTTPURLResponse?
  var body = Data()
  /// Where the body of a success goes instead, if the request says so.
  var file: DownloadFile?
  /// Why the task was cancelled, where it was not the caller.
  var failure: NetworkError?
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
    completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) {
    self.request = request
    self.progress = progress
    self.completion = completion
    hop = request
  }

  var isFinished: Bool { completion == nil }

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
      toReceive: last ? received : expected > 0 ? expected : nil)
    let now = DispatchTime.now()
    guard new != lastProgress, last || now >= nextReport else { return }
    lastProgress = new
    nextReport = now + 0.05
    progress(new)
  }

  /// Calls the completion; later calls do nothing.
  func finish(_ result: Result<Response, NetworkError>) {
    let completion = completion
    self.completion = nil
    task = nil
    body = Data()
    file = nil
    progress = nil
    completion?(result)
  }

  /// The limit reached at `now`, if any, and else when to look again.
  func limit(at now: DispatchTime) -> (reached: NetworkError?, next: DispatchTime) {
    let limits = request.timeouts
    let silence = response == nil ? limits.connect + limits.idle : limits.idle
    let total = Self.point(started, after: limits.total)
    let idle = Self.point(lastActivity, after: silence)
    if now >= total { return (timeout("had not answered completely after \(limits.total) s (Timeouts.total)"), total) }
    if now >= idle {
      let name = response == nil ? "Timeouts.connect + Timeouts.idle" : "Timeouts.idle"
      return (timeout("was silent for \(silence) s (\(name))"), idle)
    }
    return (nil, Swift.min(total, idle))
  }

  /// Whether the body goes to a file.
  var goesToFile: Bool { request.destination != nil && (200...299).contains(response?.statusCode ?? 0) }

  /// How much of the body has arrived.
  var received: Int { file.map { Int($0.count) } ?? body.count }

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

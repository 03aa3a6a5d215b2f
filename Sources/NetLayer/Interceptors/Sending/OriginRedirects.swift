import PortableFoundation
import Streams

/// A request whose redirects within its origin are followed with credentials for each request.
struct OriginRedirects: Sendable {
  private let original: Request
  private let steps: [RedirectCredentials.Step]
  private let clock: any SchedulerType
  private let transport: @Sendable (Request) -> Observable<Response>

  /// Returns whether `request` has such credentials. The transport alone sends others.
  static func follows(_ request: Request) -> Bool {
    !request.context[RedirectCredentials.self].isEmpty && !request.isForeign
  }

  init(
    _ request: Request, clock: any SchedulerType, transport: @escaping @Sendable (Request) -> Observable<Response>
  ) {
    (original, self.clock, self.transport) = (request, clock, transport)
    steps = request.context[RedirectCredentials.self]
  }

  /// The response after all redirects. Each subscription sends the request.
  var response: Observable<Response> {
    Observable.deferred { send(original, Progress(deadline: original.timeouts.attempt.map { clock.uptime + $0 })) }
  }

  private struct Progress {
    var trail = RedirectTrail()
    var metrics: TransferMetrics?
    /// The end of the attempt, which includes its redirects.
    let deadline: Duration?
  }

  private func send(_ current: Request, _ progress: Progress) -> Observable<Response> {
    var sent = current
    sent.options.redirects = original.options.redirects.leavingOrigin(after: progress.trail.redirects.count)
    if !progress.trail.redirects.isEmpty, let deadline = progress.deadline {
      sent.timeouts.attempt = max(.milliseconds(1), deadline - clock.uptime)
    }
    return transport(sent)
      .mapError { error in
        var error = NetworkError.wrapping(error)
        error.request = original
        if let response = error.response { error.response = complete(response, progress) }
        error.metrics = total(error.metrics, progress)
        return error
      }
      .flatMap { response -> Observable<Response> in
        // The transport has followed a redirect to another origin, which it continues itself.
        guard response.redirects.isEmpty else { return .just(complete(response, progress)) }
        switch RedirectPolicy.decide(
          original: original, currentRequest: current, status: response.status, headers: response.headers,
          trail: progress.trail)
        {
        case .fail(let error): return .error(error)
        case .follow(let next, let trail) where Origin(next.url) == Origin(current.url):
          var progress = progress
          progress.metrics = total(response.metrics, progress)
          progress.trail = trail
          return steps.reduce(Observable.just(next)) { requests, step in requests.flatMap { step($0, response) } }
            .flatMap { [progress] in send($0, progress) }
        case .follow, .deliver: return .just(complete(response, progress))
        }
      }
  }

  /// Returns `response` as that of the original request.
  private func complete(_ response: Response, _ progress: Progress) -> Response {
    var response = response
    response.request = original
    response.redirects = progress.trail.redirects + response.redirects
    response.metrics = total(response.metrics, progress)
    return response
  }

  private func total(_ metrics: TransferMetrics?, _ progress: Progress) -> TransferMetrics? {
    guard let earlier = progress.metrics else { return metrics }
    return metrics?.following(earlier) ?? earlier
  }
}

import PortableFoundation

/// A policy that selects the redirects to follow. All others are delivered as responses with status 3xx.
///
/// Every policy follows these rules (RFC 9110 §15.4; the Fetch standard's HTTP-redirect fetch):
/// - 301 and 302 change POST to GET, unless `keepsMethod` is `true`. 303 changes every method except HEAD to GET. 307
///   and 308 keep the method and the body.
/// - A target with a scheme other than `http` and `https` fails with `redirect`.
/// - A cycle fails with `redirect`: a method and URL that this call has requested before, with the same cookies if
///   there is a `CookieJar`.
/// - A target without a fragment inherits the fragment of the redirected URL (RFC 9110 §10.2.2).
/// - `Authorization`, `Cookie`, `Proxy-Authorization` and all fields whose names are secret, according to
///   `Redaction.standard` or the backend's redaction, are not sent to another origin.
public struct RedirectPolicy: Sendable, Hashable {
  /// A redirect before it is followed.
  public struct Step: Sendable {
    /// The request that was redirected.
    public let request: Request
    /// The status of the response.
    public let status: Int
    /// The URL of the redirect.
    public let target: URL
    /// The number of redirects that were followed before.
    public let count: Int
  }

  private let limit: Int
  private let allowsDowngrade: Bool
  private var keepsMethod = false
  private let rule: Rule

  /// The selection of redirects. Custom rules are equal if they are copies of one another.
  private enum Rule: Hashable {
    case all, sameOrigin, none
    case custom(CustomRule)
  }

  private final class CustomRule: Sendable, Hashable {
    let follows: @Sendable (Step) -> Bool

    init(_ follows: @escaping @Sendable (Step) -> Bool) { self.follows = follows }

    static func == (a: CustomRule, b: CustomRule) -> Bool { a === b }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  }

  private func follows(_ step: Step) -> Bool {
    switch rule {
    case .all: true
    case .sameOrigin: Origin(step.request.url) == Origin(step.target)
    case .none: false
    case .custom(let rule): rule.follows(step)
    }
  }

  /// Returns a policy that follows up to `limit` redirects. A further redirect fails with `redirect`, and so does a
  /// redirect from `https` to `http`, unless `downgrade` is `true`.
  ///
  /// - Parameters:
  ///   - limit: the maximum number of redirects. Browsers allow 20, the curl tool 50, and URLSession 16. The default,
  ///     10, is more than a well-designed API needs.
  ///   - downgrade: `true` to follow redirects from `https` to `http`.
  ///   - keepsMethod: `true` to keep the method and the body for 301 and 302, as RFC 9110 §15.4 specifies. Browsers
  ///     change POST to GET, and most servers rely on that, so the default is `false`.
  public static func follow(limit: Int = 10, downgrade: Bool = false, keepsMethod: Bool = false) -> RedirectPolicy {
    RedirectPolicy(limit: limit, allowsDowngrade: downgrade, keepsMethod: keepsMethod, rule: .all)
  }

  /// A policy that follows up to ten redirects to the same scheme, host and port (RFC 6454 §4).
  public static let sameOrigin = RedirectPolicy(limit: 10, allowsDowngrade: false, rule: .sameOrigin)

  /// A policy that follows no redirects.
  public static let none = RedirectPolicy(limit: 10, allowsDowngrade: false, rule: .none)

  /// Returns a policy that follows up to ten redirects for which `follows` returns `true`. The closure is called on the
  /// transport's thread and must return quickly.
  public static func decide(_ follows: @escaping @Sendable (Step) -> Bool) -> RedirectPolicy {
    RedirectPolicy(limit: 10, allowsDowngrade: false, rule: .custom(CustomRule(follows)))
  }

  enum Decision {
    /// Deliver the response to the caller.
    case deliver
    /// Send this request. The trail includes the redirect.
    case follow(Request, RedirectTrail)
    /// Fail, because following the redirect would violate a rule.
    case refuse(NetworkError)
  }

  /// Returns the decision on a response with `status` and `headers` to `currentRequest`, which was sent with the jar's
  /// `cookies`. `trail` contains the previous redirects, and `original` is the caller's request.
  static func decide(
    original: Request, currentRequest: Request, status: Int, headers: HTTPHeaders, trail: RedirectTrail,
    cookies: String?
  ) -> Decision {
    guard [301, 302, 303, 307, 308].contains(status), let location = headers.values(of: "Location").first else {
      return .deliver
    }
    let policy = original.options.redirects
    guard policy.rule != .none else { return .deliver }
    func refuse(_ reason: String) -> Decision {
      .refuse(
        NetworkError(
          kind: .redirect, reason: reason, request: original,
          response: Response(
            request: original, url: currentRequest.url, status: status, headers: headers, redirects: trail.redirects)))
    }
    let from = currentRequest.url.absoluteString
    let followed = trail.redirects.count
    let target = target(of: location, from: currentRequest.url)
    if let target, !policy.follows(Step(request: currentRequest, status: status, target: target, count: followed)) {
      return .deliver
    }
    guard followed < policy.limit else {
      return refuse(
        "more than \(policy.limit) redirects, the last from \(from) to \(location); check the server for a redirect loop"
      )
    }
    guard let target, let scheme = target.scheme?.lowercased() else {
      return refuse("\(from) redirects to \(location.debugDescription), which is not a valid URL")
    }
    guard scheme == "http" || scheme == "https" else {
      return refuse("\(from) redirects to \(location); only http and https are supported")
    }
    guard target.host?.isEmpty == false else {
      return refuse("\(from) redirects to \(location.debugDescription), which has no host")
    }
    guard policy.allowsDowngrade || scheme == "https" || currentRequest.url.scheme?.lowercased() == "http" else {
      return refuse(
        "\(from) redirects to \(location): from https to http is not followed; request the http URL directly")
    }
    // A server must not cause requests that a caller must not send.
    if let failure = RequestCheck.failure(of: Request(url: target), url: target.absoluteString) {
      return refuse("\(from) redirects to \(location.debugDescription): \(failure.reason)")
    }
    let next = next(currentRequest, status: status, target: target, keepsMethod: policy.keepsMethod)
    if !next.body.isRepeatable {
      return refuse("\(from) redirects to \(location), but the body can be sent only once; use a repeatable BodyStream")
    }
    let trail = trail.adding(
      Redirect(url: currentRequest.url, status: status, headers: headers), to: currentRequest, cookies: cookies)
    guard !trail.contains(next) else {
      return refuse(
        "\(from) redirects to \(location), but this call has already requested \(next.method) \(target.absoluteString)"
          + (currentRequest.chosenOptions?.value.cookies == nil ? "" : " with the same cookies")
          + "; check the server for a redirect loop")
    }
    return .follow(next, trail)
  }

  /// Resolves `location`. A target without a fragment inherits that of `from` (RFC 9110 §10.2.2).
  private static func target(of location: String, from: URL) -> URL? {
    guard let target = URL(string: location, relativeTo: from)?.absoluteURL else { return nil }
    let old = from.absoluteString
    guard let hash = old.firstIndex(of: "#"), !location.contains("#") else { return target }
    return URL(string: target.absoluteString + old[hash...]) ?? target
  }

  private static func next(_ currentRequest: Request, status: Int, target: URL, keepsMethod: Bool) -> Request {
    var next = currentRequest
    next.url = target
    if changesToGet(status, currentRequest.method, keepsMethod: keepsMethod) {
      next.method = .get
      next.body = .none
      // Fields that describe the body are removed with it (Fetch, HTTP-redirect fetch, step 12).
      for name in ["Content-Type", "Content-Length", "Content-Encoding", "Content-Language", "Content-Location"] {
        next.headers[name] = nil
      }
    }
    if Origin(currentRequest.url) != Origin(target) {
      next.headers["Host"] = nil
      // Backends use many names for tokens. Values that are too secret for logs must not be sent to another origin.
      let secrets = currentRequest.options.secrets
      for field in currentRequest.headers where Redaction.standard.hides(field.name) || secrets.hides(field.name) {
        next.headers[field.name] = nil
      }
      // The same applies to fields that a backend adds to all requests, except harmless ones.
      for field in currentRequest.context[OriginBoundFields.self] where !isHarmless(field.name) {
        next.headers[field.name] = nil
      }
    }
    return next
  }

  /// Returns whether a redirect changes the method to GET: 301 and 302 for POST, as in browsers (RFC 9110 §15.4.2
  /// note); 303 for all methods except HEAD.
  private static func changesToGet(_ status: Int, _ method: HTTPMethod, keepsMethod: Bool) -> Bool {
    switch status {
    case 301, 302: method == .post && !keepsMethod
    case 303: method != .head && method != .get
    default: false
    }
  }

  private static func isHarmless(_ name: String) -> Bool {
    ["accept", "accept-encoding", "accept-language", "content-type", "user-agent"].contains(name.lowercased())
  }
}

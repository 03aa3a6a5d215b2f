import PortableFoundation

/// A policy that decides which redirects are followed; any other redirect is delivered as the response, status 3xx.
///
/// Every policy keeps these rules (RFC 9110 §15.4; the Fetch standard's HTTP-redirect fetch):
/// - 301 and 302 turn POST into GET, unless `keepsMethod` is set. 303 turns every method but HEAD into GET. 307 and 308
///   keep method and body.
/// - A target whose scheme is neither `http` nor `https` fails with `redirect`.
/// - A cycle fails with `redirect`: a method and URL that this call has requested before, with the same cookies where there
///   is a `CookieJar`.
/// - A target without a fragment inherits the fragment of the URL that was redirected (RFC 9110 §10.2.2).
/// - `Authorization`, `Cookie`, `Proxy-Authorization` and every other field that is secret by its name, in
///   `Redaction.standard` or in the backend's own redaction, stay with their origin.
public struct RedirectPolicy: Sendable, Hashable {
  /// One redirect, before it is followed.
  public struct Step: Sendable {
    /// The request that was redirected.
    public let request: Request
    /// The answer's status.
    public let status: Int
    /// Where it leads.
    public let target: URL
    /// How many redirects were followed before.
    public let count: Int
  }

  private let limit: Int
  private let allowsDowngrade: Bool
  private var keepsMethod = false
  private let rule: Rule

  /// Which redirects are followed. Rules of users' are the same where they are copies of one.
  private enum Rule: Hashable {
    case all, sameOrigin, none
    case own(OwnRule)
  }

  private final class OwnRule: Sendable, Hashable {
    let follows: @Sendable (Step) -> Bool

    init(_ follows: @escaping @Sendable (Step) -> Bool) { self.follows = follows }

    static func == (a: OwnRule, b: OwnRule) -> Bool { a === b }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  }

  private func follows(_ step: Step) -> Bool {
    switch rule {
    case .all: true
    case .sameOrigin: Origin(step.request.url) == Origin(step.target)
    case .none: false
    case .own(let own): own.follows(step)
    }
  }

  /// Follows `limit` redirects; one more fails with `redirect`. Browsers allow 20, libcurl's tool 50, URLSession 16: ten are
  /// more than any sound API takes. From `https` to `http` is refused with `redirect` unless `downgrade` allows it.
  ///
  /// - Parameters:
  ///   - limit: the maximum number of redirects.
  ///   - downgrade: whether redirects from `https` to `http` are followed.
  ///   - keepsMethod: whether 301 and 302 keep method and body, as RFC 9110 §15.4 wants it. Browsers turn POST into GET,
  ///     and most servers rely on that, so the default is `false`.
  public static func follow(limit: Int = 10, downgrade: Bool = false, keepsMethod: Bool = false) -> RedirectPolicy {
    RedirectPolicy(limit: limit, allowsDowngrade: downgrade, keepsMethod: keepsMethod, rule: .all)
  }

  /// Follows ten redirects to the same scheme, host and port (RFC 6454 §4).
  public static let sameOrigin = RedirectPolicy(limit: 10, allowsDowngrade: false, rule: .sameOrigin)

  /// Follows none.
  public static let none = RedirectPolicy(limit: 10, allowsDowngrade: false, rule: .none)

  /// Follows those that `follows` says yes to, ten at most; called on the transport's thread, so it must be quick.
  public static func decide(_ follows: @escaping @Sendable (Step) -> Bool) -> RedirectPolicy {
    RedirectPolicy(limit: 10, allowsDowngrade: false, rule: .own(OwnRule(follows)))
  }

  enum Decision {
    /// The response is what the caller gets.
    case deliver
    /// Send this next; the trail has the redirect at its end.
    case follow(Request, RedirectTrail)
    /// Going on would break a rule.
    case refuse(NetworkError)
  }

  /// Decides on an answer of `status` and `headers` to `hop`, the request as it was last sent, with the jar's
  /// `cookies`; `trail` has the redirects before, and `original` is what the caller asked for.
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
    let hops = trail.redirects.count
    let target = target(of: location, from: currentRequest.url)
    if let target, !policy.follows(Step(request: currentRequest, status: status, target: target, count: hops)) {
      return .deliver
    }
    guard hops < policy.limit else {
      return refuse(
        "more than \(policy.limit) redirects, the last from \(from) to \(location); look for a loop on the server")
    }
    guard let target, let scheme = target.scheme?.lowercased() else {
      return refuse("\(from) redirects to \(location.debugDescription), which is no URL")
    }
    guard scheme == "http" || scheme == "https" else {
      return refuse("\(from) redirects to \(location): only http and https are followed")
    }
    guard target.host?.isEmpty == false else {
      return refuse("\(from) redirects to \(location.debugDescription), which names no host")
    }
    guard policy.allowsDowngrade || scheme == "https" || currentRequest.url.scheme?.lowercased() == "http" else {
      return refuse("\(from) redirects to \(location): from https to http is not followed; call the http URL yourself")
    }
    // What no caller may ask for, no server may, either.
    if let failure = RequestCheck.failure(of: Request(url: target), url: target.absoluteString) {
      return refuse("\(from) redirects to \(location.debugDescription): \(failure.reason)")
    }
    let next = next(currentRequest, status: status, target: target, keepsMethod: policy.keepsMethod)
    if !next.body.isRepeatable {
      return refuse("\(from) redirects to \(location), and the body can't be sent again; give a BodyStream that can")
    }
    let trail = trail.adding(
      Redirect(url: currentRequest.url, status: status, headers: headers), to: currentRequest, cookies: cookies)
    guard !trail.contains(next) else {
      return refuse(
        "\(from) redirects to \(location), but this call has already requested \(next.method) \(target.absoluteString)"
          + (currentRequest.chosenOptions?.value.cookies == nil ? "" : " with the same cookies")
          + "; look for a loop on the server")
    }
    return .follow(next, trail)
  }

  /// The URL that `location` names; without a fragment of its own it has that of `from` (RFC 9110 §10.2.2).
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
      // What described the body goes with it (Fetch, HTTP-redirect fetch, step 12).
      for name in ["Content-Type", "Content-Length", "Content-Encoding", "Content-Language", "Content-Location"] {
        next.headers[name] = nil
      }
    }
    if Origin(currentRequest.url) != Origin(target) {
      next.headers["Host"] = nil
      // A back end's tokens have many names: what is too secret for a log is too secret for another origin.
      let secrets = currentRequest.options.secrets
      for field in currentRequest.headers where Redaction.standard.hides(field.name) || secrets.hides(field.name) {
        next.headers[field.name] = nil
      }
      // So has what a back end sends by itself, but for what every server may know.
      for field in currentRequest.context[OriginBoundFields.self] where !isHarmless(field.name) {
        next.headers[field.name] = nil
      }
    }
    return next
  }

  /// 301 and 302 turn POST into GET, as all browsers do (RFC 9110 §15.4.2 note); 303 turns all but HEAD into GET.
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

import PortableFoundation

/// A policy that selects the redirects to follow. All other redirects are delivered as responses with status 3xx.
///
/// Every policy follows these rules (RFC 9110 §15.4; the Fetch standard's HTTP-redirect fetch):
/// - 301 and 302 change POST to GET, unless `keepsMethod` is `true`. 303 changes every method except HEAD to GET. 307
///   and 308 keep the method and the body. A GET without the body has none of the fields that describe it (`Content-*`,
///   `Digest`, `Repr-Digest`, `ETag`, `Last-Modified`, `Trailer`), and no `Expect`.
/// - The cookies that a redirect sets replace those of the caller's `Cookie` field, if there is a `CookieJar`.
/// - A target with a scheme other than `http` and `https` fails with `redirect`.
/// - A URL may be requested again: a redirect to itself may set a cookie, or wait for a result. Only the limit ends a loop.
/// - A target without a fragment inherits the fragment of the redirected URL (RFC 9110 §10.2.2).
/// - `Authorization`, `Cookie`, `Proxy-Authorization` and all fields whose names are secret, according to
///   `Redaction.standard` or the backend's redaction, are not sent to another origin.
/// - A user and a password in a `Location` are dropped (RFC 9110 §4.2.4).
/// - A redirect from another origin to a Unix domain socket of `CurlTransport.Configuration.addresses` fails with
///   `redirect`.
public struct RedirectPolicy: Sendable, Hashable {
  /// A redirect that may be followed.
  public struct Step: Sendable {
    /// The request that was redirected.
    public let request: Request
    /// The status of the response.
    public let status: Int
    /// The URL of the redirect.
    public let target: URL
    /// The number of redirects that were followed before.
    public let count: Int

    /// Creates a redirect, to test the closure of a policy.
    public init(request: Request, status: Int, target: URL, count: Int = 0) {
      (self.request, self.status, self.target, self.count) = (request, status, target, count)
    }
  }

  let limit: Int
  package let allowsDowngrade: Bool
  var keepsMethod = false
  /// The number of redirects that the caller of the transport has followed before.
  private(set) var followed = 0
  private(set) var rule: Rule

  /// The selection of redirects. Custom rules are equal if they are copies of one another.
  enum Rule: Hashable {
    case all, sameOrigin, none
    case custom(CustomRule)
  }

  final class CustomRule: Sendable, Hashable {
    let follows: @Sendable (Step) -> Bool

    init(_ follows: @escaping @Sendable (Step) -> Bool) { self.follows = follows }

    static func == (a: CustomRule, b: CustomRule) -> Bool { a === b }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  }

  func follows(_ step: Step) -> Bool {
    switch rule {
    case .all: true
    case .sameOrigin: Origin(step.request.url) == Origin(step.target)
    case .none: false
    case .custom(let rule): rule.follows(step)
    }
  }

  /// Returns a policy that follows up to `limit` redirects. A further redirect fails with `redirect`, and so does a
  /// redirect from `https` to `http`, unless `allowsDowngrade` is `true`.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of redirects, 10 by default.
  ///   - allowsDowngrade: `true` to follow redirects from `https` to `http`.
  ///   - keepsMethod: `true` to keep the method and the body for 301 and 302, as RFC 9110 §15.4 specifies. Browsers
  ///     change POST to GET, and most servers rely on that, so the default is `false`.
  public static func follow(limit: Int = 10, allowsDowngrade: Bool = false, keepsMethod: Bool = false) -> RedirectPolicy
  {
    RedirectPolicy(limit: limit, allowsDowngrade: allowsDowngrade, keepsMethod: keepsMethod, rule: .all)
  }

  /// A policy that follows up to ten redirects to the same scheme, host and port (RFC 6454 §4).
  public static let sameOrigin = RedirectPolicy(limit: 10, allowsDowngrade: false, rule: .sameOrigin)

  /// This policy, restricted to redirects after which a success is one of the request itself: those that keep its method
  /// and origin, and 303 within the origin, which is the response to the request (RFC 9110 §15.4.4).
  package var ofWrites: RedirectPolicy {
    var policy = self
    policy.rule = .custom(
      CustomRule { [self] step in
        guard follows(step), Origin(step.request.url) == Origin(step.target) else { return false }
        return step.status == 303 || !Self.changesToGet(step.status, step.request.method, keepsMethod: keepsMethod)
      })
    return policy
  }

  /// This policy without redirects from the origin to itself, after `followed` redirects: the caller follows those, because
  /// it computes other credentials for each of them. After a redirect to another origin, nothing differs.
  package func leavingOrigin(after followed: Int) -> RedirectPolicy {
    guard rule != .none else { return self }
    var policy = self
    policy.followed = followed
    policy.rule = .custom(
      CustomRule { [self] step in
        (step.count > followed || Origin(step.request.url) != Origin(step.target)) && follows(step)
      })
    return policy
  }

  /// A policy that follows no redirects.
  public static let none = RedirectPolicy(limit: 10, allowsDowngrade: false, rule: .none)

  /// Returns a policy that follows up to ten redirects for which `follows` returns `true`. The closure is called on the
  /// transport's thread and must return quickly.
  public static func custom(_ follows: @escaping @Sendable (Step) -> Bool) -> RedirectPolicy {
    RedirectPolicy(limit: 10, allowsDowngrade: false, rule: .custom(CustomRule(follows)))
  }

  /// Returns whether a redirect changes the method to GET: 301 and 302 for POST, as in browsers (RFC 9110 §15.4.2
  /// note); 303 for all methods except HEAD.
  static func changesToGet(_ status: Int, _ method: HTTPMethod, keepsMethod: Bool) -> Bool {
    switch status {
    case 301, 302: method == .post && !keepsMethod
    case 303: method != .head && method != .get
    default: false
    }
  }
}

import Streams

/// The steps that compute the credentials of one request, such as the response to a challenge and a signature, in the order of
/// their interceptors.
///
/// Credentials that depend on the path or the method are wrong after a redirect, so these steps compute them again,
/// within the origin. Another origin receives none: the transport follows redirects to it, and removes them.
enum RedirectCredentials: ContextKey {
  /// Returns a redirected request with other credentials. It contains those of the former request. The response is the redirect.
  typealias Step = @Sendable (_ next: Request, _ redirect: Response) -> Observable<Request>

  static var defaultValue: [Step] { [] }
}

/// A request and what came of it; what interceptors pass on.
public struct Exchange: Sendable {
  /// The request as it was sent.
  public var request: Request
  /// The answer, whatever its status.
  public var response: Response

  /// An exchange of `request` and `response`.
  public init(request: Request, response: Response) {
    self.request = request
    self.response = response
  }
}

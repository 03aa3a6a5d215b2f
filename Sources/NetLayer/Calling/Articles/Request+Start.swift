import PortableFoundation
import Streams

extension Request {
  /// Sends the request and calls `completion` once: `Network.response(_:)` and `Response.validated()` with a completion.
  ///
  /// The completion runs on the backend's `delivery` scheduler, or else on `mapping`. The backend applies its
  /// interceptors and adds nothing else to the request.
  @discardableResult
  public func start(
    on network: Network = .default, completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> RunningRequest {
    network.run(network.response(self).delivering { try $0.validated() }, completion)
  }
}

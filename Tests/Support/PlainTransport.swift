import HTTPTransport
import Streams

/// A transport with only the required method.
package struct PlainTransport: Transport {
  private let base: any Transport

  package init(_ base: any Transport) { self.base = base }

  package func send(
    _ request: Request, completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> any Disposable {
    base.send(request, completion: completion)
  }
}

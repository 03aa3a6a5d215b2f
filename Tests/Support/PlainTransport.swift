import HTTPTransport
import Streams

/// A transport with only the required method.
package struct PlainTransport: Transport {
  private let base: StubTransport

  package init(_ base: StubTransport) { self.base = base }

  package func send(
    _ request: Request, completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> any Disposable {
    base.send(request, completion: completion)
  }
}

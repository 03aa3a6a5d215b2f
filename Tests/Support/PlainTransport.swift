import HTTPTransport
import Streams

/// A transport with only the required method.
package struct PlainTransport: Transport {
  private let base: any Transport

  package init(_ base: any Transport) { self.base = base }

  package func send(
    _ request: Request, progress: ProgressHandler?,
    completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> any Disposable {
    base.send(request) { result in
      if case .success(let response) = result { progress?(TransferProgress(of: request, response)) }
      completion(result)
    }
  }
}

#if !HAS_URLSESSION
  import Dispatch
  import PortableFoundation
  import Streams

  /// The transport of a platform with neither libcurl nor `URLSession`. It fails every request.
  final class UnavailableTransport: Transport {
    private let error: NetworkError
    private let queue = DispatchQueue(label: "NetLayer.UnavailableTransport")

    init(_ error: NetworkError) { self.error = error }

    func send(
      _ request: Request, progress: ProgressHandler?,
      completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
    ) -> any Disposable {
      queue.async { [error] in
        completion(.failure(NetworkError(kind: error.kind, reason: error.reason, request: request)))
      }
      return Disposables.create()
    }
  }
#endif

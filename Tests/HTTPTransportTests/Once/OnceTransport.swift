import Foundation
import HTTPTransport
import NetLayer
import Streams

/// A transport that forwards to another one and counts how often each request ends.
final class OnceTransport: Transport {
  private struct State {
    var open = 0
    var problems: [String] = []
  }

  private let transport: any Transport
  private let state = Locked(State())

  init(_ transport: any Transport) { self.transport = transport }

  /// The number of requests in flight.
  var open: Int { state.withLock { $0.open } }
  var problems: [String] { state.withLock { $0.problems } }

  func send(
    _ request: Request, progress: ProgressHandler?,
    completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> any Disposable {
    state.withLock { $0.open += 1 }
    let ends = Locked(0)
    return transport.send(request, progress: progress) { [self] result in
      let isFirst = ends.withLock { ends in
        ends += 1
        return ends == 1
      }
      state.withLock { state in
        if isFirst {
          state.open -= 1
        } else {
          state.problems.append("a request of call \(request.headers["X-Call"] ?? "?") has ended twice")
        }
      }
      completion(result)
    }
  }
}

import Foundation
import HTTPTransport
import Streams

/// Answers from a closure, on a queue of its own, as a transport does.
package final class FakeTransport: Transport {
  package enum Reply: Sendable {
    case answer(String, status: Int = 200, headers: HTTPHeaders = ["Content-Type": "application/json"])
    case failure(NetworkError.Kind)
    /// No answer before it is cancelled.
    case silence
  }

  private struct State {
    var requests: [Request] = []
    var cancellations = 0
  }

  private let state = Locked(State())
  private let queue = DispatchQueue(label: "fake transport")
  private static let key = DispatchSpecificKey<Bool>()
  private let reply: @Sendable (Request) -> Reply

  package init(_ reply: @escaping @Sendable (Request) -> Reply) {
    self.reply = reply
    queue.setSpecific(key: Self.key, value: true)
  }

  package convenience init(json: String, status: Int = 200) { self.init { _ in .answer(json, status: status) } }

  /// Whether this is a transport's thread.
  package static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }

  package var requests: [Request] { state.withLock { $0.requests } }
  package var cancellations: Int { state.withLock { $0.cancellations } }

  package func send(
    _ request: Request, completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> any Disposable {
    state.withLock { $0.requests.append(request) }
    let finish = Finish(completion)
    switch reply(request) {
    case .answer(let body, let status, let headers):
      let response = Response(request: request, status: status, headers: headers, body: Data(body.utf8))
      queue.async { finish(.success(response)) }
    case .failure(let kind):
      queue.async { finish(.failure(NetworkError(kind: kind, reason: "fake \(kind)", request: request))) }
    case .silence:
      break
    }
    return Disposables.create {
      let cancelled = NetworkError(kind: .cancelled, reason: "cancelled", request: request)
      self.queue.async {
        if finish(.failure(cancelled)) { self.state.withLock { $0.cancellations += 1 } }
      }
    }
  }

  /// Returns when everything that was on its way has been completed.
  package func drain() { queue.sync {} }

  private final class Finish: Sendable {
    private let completion: Locked<(@Sendable (Result<Response, NetworkError>) -> Void)?>

    init(_ completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void) {
      self.completion = Locked(completion)
    }

    @discardableResult
    func callAsFunction(_ result: Result<Response, NetworkError>) -> Bool {
      let taken = completion.withLock { stored in
        defer { stored = nil }
        return stored
      }
      taken?(result)
      return taken != nil
    }
  }
}

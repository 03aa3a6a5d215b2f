import Foundation
import HTTPTransport
import NetLayer
import Streams
import TestSupport

/// A transport whose responses a test delivers in chunks, and whose paused state it can read.
final class ScriptedStream: Transport {
  final class PendingCall: StreamControl, Sendable {
    let request: Request
    private let head: @Sendable (Response) -> Void
    private let chunk: @Sendable (Data) -> BodyFlow
    private let completion: @Sendable (Result<Response, NetworkError>) -> Void
    private let state = Locked((paused: false, over: false))

    init(
      _ request: Request, _ head: @escaping @Sendable (Response) -> Void,
      _ chunk: @escaping @Sendable (Data) -> BodyFlow,
      _ completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
    ) {
      (self.request, self.head, self.chunk, self.completion) = (request, head, chunk, completion)
    }

    var isPaused: Bool { state.withLock { $0.paused } }
    var isOver: Bool { state.withLock { $0.over } }

    func reply(_ status: Int = 200, _ headers: HTTPHeaders = [:]) {
      head(Response(request: request, status: status, headers: headers))
    }

    func send(_ text: String) { send(Data(text.utf8)) }

    func send(_ data: Data) {
      if chunk(data) == .pause { state.withLock { $0.paused = true } }
    }

    func end(_ kind: NetworkError.Kind? = nil) {
      state.withLock { $0.over = true }
      let response = Response(request: request)
      completion(
        kind.map { .failure(NetworkError(kind: $0, reason: "scripted", request: request)) } ?? .success(response))
    }

    func resume() { state.withLock { $0.paused = false } }

    func dispose() {
      let isFirst = state.withLock { state in
        defer { state.over = true }
        return !state.over
      }
      if isFirst { completion(.failure(NetworkError(kind: .cancelled, reason: "disposed", request: request))) }
    }
  }

  private let state = Locked<[PendingCall]>([])

  var pendingCalls: [PendingCall] { state.withLock { $0 } }

  func stream(_ request: Request, progress: ProgressHandler?, receiver: StreamReceiver) -> any StreamControl {
    let pending = PendingCall(request, receiver.head, receiver.chunk, receiver.completion)
    state.withLock { $0.append(pending) }
    return pending
  }

  func send(
    _ request: Request, progress: ProgressHandler?,
    completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> any Disposable {
    completion(.failure(NetworkError(kind: .other, reason: "only streams", request: request)))
    return Disposables.create()
  }
}

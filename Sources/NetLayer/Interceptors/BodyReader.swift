import Foundation
import Streams

/// Reads the body of a streamed response, which carries it: interceptors that hold something until its end look for it.
///
/// It ends the request when nobody can read the body any more.
final class BodyReader: Sendable, ContextKey {
  static var defaultValue: BodyReader? { nil }

  let buffer: BodyBuffer

  init(_ buffer: BodyBuffer) { self.buffer = buffer }

  deinit { buffer.cancel() }

  /// Hands every piece to `observer`, one after the other, on the mapping scheduler.
  func pump(to observer: AnyObserver<Data>, _ response: Response) {
    while true {
      switch buffer.take(orCall: { [self] in pump(to: observer, response) }) {
      case .chunk(let chunk): observer.onNext(chunk)
      case .end(let error): return error.map { observer.onError(response.explaining($0)) } ?? observer.onCompleted()
      case .wait: return
      }
    }
  }

  /// The next piece, `nil` at the end.
  func next(_ response: Response) async throws -> Data? {
    try await withTaskCancellationHandler {
      while true {
        let step = await withCheckedContinuation { (continuation: CheckedContinuation<BodyBuffer.Step, Never>) in
          let step = buffer.take { continuation.resume(returning: .wait) }
          if case .wait = step { return }
          continuation.resume(returning: step)
        }
        switch step {
        case .chunk(let chunk): return chunk
        case .end(let error?): throw response.explaining(error)
        case .end: return nil
        case .wait: continue
        }
      }
    } onCancel: {
      buffer.cancel()
    }
  }
}

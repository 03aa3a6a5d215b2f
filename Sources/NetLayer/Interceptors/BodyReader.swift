import PortableFoundation
import Streams

/// A reader of a streamed response's body. The response carries it, so that interceptors can wait for the end of the
/// body.
final class BodyReader: Sendable, ContextKey {
  static var defaultValue: BodyReader? { nil }

  let buffer: BodyBuffer

  init(_ buffer: BodyBuffer) { self.buffer = buffer }

  deinit { buffer.cancel() }

  /// Emits the chunks into `next`, one by one, on the mapping scheduler. Pauses while the subscriber requests none.
  func pump(_ response: Response, into subscription: Subscription, _ next: @escaping Observable<Data>.Next) {
    let proceed: @Sendable () -> Void = { [self] in pump(response, into: subscription, next) }
    while !subscription.isStopped {
      guard subscription.takesMore(orCall: { [buffer] in _ = buffer.scheduler.schedule(proceed) }) else { return }
      switch buffer.take(orCall: proceed) {
      case .element(let chunk): subscription.deliver(chunk, to: next)
      case .end(let error): return subscription.finish(error.map { response.explaining($0) })
      case .wait: return
      }
    }
  }

  func next(_ response: Response) async throws -> Data? {
    try await withTaskCancellationHandler {
      while true {
        let step = await withCheckedContinuation { (continuation: CheckedContinuation<BodyBuffer.Step, Never>) in
          let step = buffer.take { continuation.resume(returning: .wait) }
          if case .wait = step { return }
          continuation.resume(returning: step)
        }
        switch step {
        case .element(let chunk): return chunk
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

import PortableFoundation
import Streams
import Synchronization

/// An observer of all events of the calls of a network. A network has at most one, which it finds among its interceptors.
///
/// Each place that reports an event costs a load and a branch in a network without an observer.
package protocol CallObserver: AnyObject, Sendable {
  /// The clock of the times of events.
  var clock: any SchedulerType { get }
  /// Receives an event on the thread where it occurs. It must not block.
  func note(_ event: CallEvent, of request: Request)
}

/// An event of a call.
package enum CallEvent: Sendable {
  /// A call starts. The text is the type of its endpoint.
  case started(endpoint: String?)
  /// An attempt is passed to the transport.
  case sent
  /// The head of a streamed response, or of an opened WebSocket, has arrived.
  case head(Response)
  /// A chunk of a streamed body has arrived.
  case chunk(Data)
  /// A WebSocket message was received, or passed to the transport.
  case message(WebSocketMessage, isSent: Bool)
  /// A server-sent event has arrived.
  case event(id: String, name: String, data: String)
  /// The transport has finished an attempt.
  case finished(Result<Response, NetworkError>)
  /// The transport has closed a WebSocket.
  case closed(Result<WebSocketClose, NetworkError>)
  /// A retry waits before its attempt.
  case pause(Duration)
  /// A response has passed all interceptors. It may come from a cache, or from the call with another number.
  case received(Response, from: Int)
  /// A response was read as its result.
  case decoded(Duration)
  /// The call has failed.
  case failed(NetworkError)
  /// The caller has cancelled the call.
  case cancelled
}

/// The number of a call, which its attempts share. The observer sets it.
package enum CallNumber: ContextKey { package static let defaultValue = 0 }

/// A mark of programs that use an observer, so that readings in other programs need not search for one.
@usableFromInline
package enum CallObservation {
  /// Guards only itself. Recorders set it when they are made, on any thread.
  @usableFromInline package static let isUsed = Atomic<Bool>(false)
}

extension Response {
  /// Puts the number of the call that receives this response in place of the number of the call that was sent for it.
  /// Returns the latter.
  mutating func adopt(_ number: Int) -> Int {
    let sent = request.context[CallNumber.self]
    if sent != number { request.context[CallNumber.self] = number }
    return sent
  }
}

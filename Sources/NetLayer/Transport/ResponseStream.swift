import Foundation
import Streams
import Synchronization

/// What the consumer of a streamed body answers to a chunk.
public enum BodyFlow: Sendable {
  /// It takes the next chunk as soon as there is one.
  case `continue`
  /// It has taken this one, and takes no other before `StreamControl.resume()`.
  case pause
}

/// Steers a response that streams in; disposing it cancels the request.
public protocol StreamControl: Disposable {
  /// Lets chunks come again after a `pause`; from any thread, also from within the chunk's own call, before its `pause` is
  /// returned. Calls while nothing is paused do nothing.
  func resume()
}

import Hummingbird
import HummingbirdCore
import Logging
import NIOCore

/// An HTTP/1.1 connection that cancels its request handler when the client closes it.
///
/// Without it, the handler of a client that has left runs to its end, with all its calls. Hummingbird's
/// `consumeWithCancellationOnInboundClose` also cancels, but closes the connection after each response.
struct CancellingChannel: ServerChildChannel {
  private let base: HTTP1Channel

  init(responder: @escaping HTTPChannelHandler.Responder) { base = HTTP1Channel(responder: responder) }

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
    // Hummingbird keeps a connection open if only the client's direction is closed, so a departed client is not noticed.
    channel.setOption(.allowRemoteHalfClosure, value: false).flatMap { base.setup(channel: channel, logger: logger) }
  }

  func handle(value: HTTP1Channel.Value, logger: Logger) async {
    // A connection handles one request after the other, so its task is the task of the current handler.
    let task = Task { await base.handle(value: value, logger: logger) }
    value.channel.closeFuture.whenComplete { _ in task.cancel() }
    await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }
  }
}

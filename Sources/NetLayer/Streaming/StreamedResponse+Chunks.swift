import PortableFoundation
import Streams

extension StreamedResponse {
  /// Creates a response whose body consists of `chunks`, to test code that reads streamed responses.
  ///
  /// `body` emits the chunks on the thread that subscribes, and all of them are in memory.
  ///
  /// - Parameters:
  ///   - response: The status and header fields; its body is ignored.
  ///   - chunks: The chunks of the body.
  ///   - error: The error that ends the body after the last chunk; `nil` for a complete body.
  public init(_ response: Response, chunks: some Sequence<Data>, error: NetworkError? = nil) {
    var head = response
    head.body = Data()
    let buffer = BodyBuffer(ImmediateScheduler.instance)
    for chunk in chunks { _ = buffer.push(chunk) }
    buffer.finish(error, response.metrics, trailers: response.trailers)
    self.init(head, BodyReader(buffer))
  }
}

import PortableFoundation
import Streams

extension CallPipeline {
  /// Emits the response to the request that `build` creates as soon as its head has arrived.
  func opened(_ build: @escaping @Sendable () throws -> Request) -> Single<StreamedResponse> {
    let mapping = mapping
    return response {
      var request = try build()
      request.markStreamed()
      // A stream may last forever; only the idle limit or its reader ends it.
      request.timeouts.total = nil
      return request
    }
    .map { response in
      var head = response
      head.context[BodyReader.self] = nil
      guard let reader = response.context[BodyReader.self] else {
        // An interceptor's own response, which is complete.
        head.body = Data()
        let buffer = BodyBuffer(mapping)
        _ = buffer.push(response.body)
        buffer.finish(nil)
        return StreamedResponse(head, BodyReader(buffer))
      }
      return StreamedResponse(head, reader)
    }
  }
}

private enum IsStreamed: ContextKey {
  static let defaultValue = false
}

extension Request {
  /// Whether the body of the response is read while it arrives, so that interceptors can't store it.
  public var isStreamed: Bool { context[IsStreamed.self] }

  mutating func markStreamed() { context[IsStreamed.self] = true }
}

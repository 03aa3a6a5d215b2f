import PortableFoundation
import Streams

extension CallPipeline {
  /// The response to the request that `build` makes, as soon as its head is there.
  func opened(_ build: @escaping @Sendable () throws -> Request) -> Single<StreamedResponse> {
    let mapping = mapping
    return response {
      var request = try build()
      request.markStreamed()
      // A stream may last: silence ends it, or its reader.
      request.timeouts.total = 0
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
  /// Whether the body of its answer is read while it comes in, so that nobody can keep it.
  public var isStreamed: Bool { context[IsStreamed.self] }

  mutating func markStreamed() { context[IsStreamed.self] = true }
}

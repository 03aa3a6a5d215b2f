import Foundation
import Streams

extension CallPipeline {
  /// The response to the request that `build` makes, as soon as its head is there.
  func opened(_ build: @escaping @Sendable () throws -> Request) -> Single<StreamedResponse> {
    let mapping = mapping
    return response {
      var request = try build()
      request.isStreamed = true
      // A stream may last: silence ends it, or its reader.
      request.timeouts.total = 0
      return request
    }
    .map { response in
      var head = response
      head.reader = nil
      guard let reader = response.reader else {
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

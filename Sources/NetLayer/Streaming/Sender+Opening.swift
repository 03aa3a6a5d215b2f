import Foundation
import Streams

extension Sender {
  /// The answer to the request that `build` makes, as soon as its head is there.
  func opened(_ build: @escaping @Sendable () throws -> Request) -> Single<StreamedResponse> {
    let answers = exchanges(
      {
        var request = try build()
        request.isStreamed = true
        // A stream may last: silence ends it, or its reader.
        request.timeouts.total = 0
        return request
      }, sending: opening)
    return answers.lastAsSingle().map { response in
      var head = response
      head.reader = nil
      guard let reader = response.reader else {
        // An interceptor's own answer, which is complete.
        head.body = Data()
        let buffer = BodyBuffer(mapping)
        _ = buffer.push(response.body)
        buffer.finish(nil)
        return StreamedResponse(head, BodyReader(buffer))
      }
      return StreamedResponse(head, reader)
    }
  }

  private func opening(_ built: Request) -> Observable<Exchange> {
    let sender = self
    return Observable.create { observer in
      let request: Request
      do {
        request = try built.readyToSend()
      } catch {
        observer.onError(error)
        return Disposables.create()
      }
      let flight = sender.activity.begin()
      let buffer = BodyBuffer(sender.mapping)
      // Whoever has the head has the reader, and ends the request by letting go of it: so the transport must not hold, by
      // way of the observer, a head that waits for its hop.
      let receiver = Locked<AnyObserver<Exchange>?>(observer)
      let control = sender.transport.stream(
        request,
        head: { response in
          guard let observer = receiver.withLock({ $0.take() }) else { return }
          var response = response
          response.rules = sender.rules
          response.reader = BodyReader(buffer)
          observer.onNext(Exchange(request: request, response: response))
          observer.onCompleted()
        }, chunk: buffer.push,
        completion: { result in
          flight.dispose()
          let metrics = result.metrics
          if let metrics { request.options.measured?(metrics) }
          switch result {
          case .success(let response): buffer.finish(nil, metrics, trailers: response.trailers)
          case .failure(let error):
            buffer.finish(error, metrics)
            receiver.withLock { $0.take() }?.onError(error.ruled(by: sender.rules))
          }
        })
      buffer.attach(control)
      return Disposables.create {
        if receiver.withLock({ $0.take() }) != nil { buffer.cancel() }
      }
    }
    .observeOn(mapping)
  }
}

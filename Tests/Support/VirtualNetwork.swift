import Foundation
import HTTPTransport
import NetLayer
import NetLayerTesting
import Streams
import StreamsTesting

/// A stubbed network with virtual time, whose unit is a millisecond.
package struct VirtualNetwork {
  package let scheduler = TestScheduler(resolution: .milliseconds(1))
  package let stub: StubTransport
  package let notes = Notes()

  package init(_ reply: @escaping @Sendable (Request) -> StubTransport.StubbedResponse?) {
    stub = StubTransport(on: scheduler, reply)
  }

  package init(_ reply: StubTransport.StubbedResponse) { self.init { _ in reply } }

  package func network(_ interceptors: any Interceptor...) -> Network {
    Network(
      Backend(
        baseURL: URL(string: "http://h/"), transport: stub, clock: scheduler, mapping: scheduler,
        interceptors: interceptors))
  }

  /// Subscribes and records each event with its time.
  @discardableResult
  package func note(_ name: String = "", _ responses: some ObservableConvertibleType<Response>) -> any Disposable {
    let (notes, scheduler) = (notes, scheduler)
    return responses.asObservable().subscribe(
      onNext: { response in
        let body = String(decoding: response.body, as: UTF8.self)
        notes.add("\(name)\(response.status) \(body) @\(scheduler.clock)")
      },
      onError: { notes.add("\(name)\(NetworkError.wrapping($0).kind) @\(scheduler.clock)") })
  }

  package var paths: [String] { stub.requests.map(\.url.path) }
}

import Foundation
import HTTPTransport
import NetLayer
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport

/// A network with a cache in memory and virtual time, which starts on 1 January 2001, 00:00 UTC.
struct CacheFixture {
  /// The results of a call.
  struct Seen: Equatable {
    var bodies: [String] = []
    var origins: [Response.Source] = []
    var failure: NetworkError.Kind?
  }

  let scheduler = TestScheduler()
  let stub: StubTransport
  let cache: ResponseCache
  let network: Network
  /// The problems that the cache has reported.
  let problems = Notes()

  init(
    policy: CachePolicy = .http, envelope: Envelope = .none, account: (@Sendable (Request) -> String?)? = nil,
    behind: [any Interceptor] = [], _ reply: @escaping @Sendable (Request) -> StubTransport.StubbedResponse?
  ) {
    stub = StubTransport(on: scheduler, reply)
    cache = ResponseCache(storingIn: nil, clock: scheduler) { [problems] problem in
      problems.add(problem.reason)
    }
    network = Network(
      Backend(
        baseURL: URL(string: "http://h"), envelope: envelope, transport: stub, clock: scheduler, mapping: scheduler,
        interceptors: [CacheInterceptor(cache, policy: policy, account: account)] + behind))
  }

  /// Responds with `headers` and the number of the request as the body: `1`, `2` …. Responds with 304 if the request has the
  /// entity tag of the response.
  static func counting(_ headers: HTTPHeaders, status: Int = 200)
    -> @Sendable (Request) -> StubTransport.StubbedResponse?
  {
    let count = Locked(0)
    return { request in
      let number = count.withLock { count in
        count += 1
        return count
      }
      if let tag = headers["ETag"], request.headers["If-None-Match"] == tag {
        return .response(status: 304, headers: headers)
      }
      return .response(status: status, headers: headers, body: Data("\(number)".utf8))
    }
  }

  /// Calls the endpoint, and runs all scheduled work.
  @discardableResult
  func get(_ endpoint: some Endpoint = Plain()) -> Seen {
    run(network.responses(Call(endpoint)))
  }

  @discardableResult
  func get(_ headers: HTTPHeaders, _ policy: CachePolicy? = nil) -> Seen {
    get(Plain(headers: headers, caching: CacheOptions(policy: policy)))
  }

  @discardableResult
  func get(_ policy: CachePolicy) -> Seen { get(Plain(caching: CacheOptions(policy: policy))) }

  @discardableResult
  func get(path: String) -> Seen { get(Plain(path: path)) }

  func run(_ responses: Observable<Response>) -> Seen {
    let observer = scheduler.createObserver(Response.self)
    let subscription = responses.subscribe(observer)
    scheduler.start()
    subscription.dispose()
    var seen = Seen()
    for event in observer.events.map(\.value) {
      if let response = event.element {
        let status = response.status == 200 ? "" : "\(response.status) "
        seen.bodies.append(status + String(decoding: response.body, as: UTF8.self))
        seen.origins.append(response.source)
      }
      if let error = event.error as? NetworkError { seen.failure = error.kind }
    }
    return seen
  }

  /// The number of requests that the server has received.
  var requests: Int { stub.requests.count }

  struct Plain: Endpoint {
    var path = "/a"
    var method = HTTPMethod.get
    var task = HTTPTask.none
    var headers: HTTPHeaders = [:]
    var caching = CacheOptions()
  }
}

import Dispatch
import Foundation
import NetLayer
import Streams
import XCTest

struct Book: Decodable, Sendable {
  var title: String
}

struct Remote<Output: Decodable & Sendable>: Endpoint {
  let name: String
  var params: JSON = [:]
  var path: String { "/rpc" }
  var method: HTTPMethod { .post }
  var task: HTTPTask { .json(["jsonrpc": "2.0", "id": 1, "method": JSON(name), "params": params] as JSON) }
}

extension Network {
  func book(_ id: Int) -> Observable<Book> {
    json(.get("/book", query: ["id": id])).data()
  }
  func newBooks(cursor: String?) -> Observable<Page<Book>> {
    json(.get("/books/new", query: ["cursor": cursor])).list()
  }
  func lend(_ id: Int) -> Observable<Bool> {
    json(.post("/book/lend", parameters: ["id": id])).bool()
  }
}

struct Customer: Decodable, Sendable {
  var name: String
}

struct Headlines: Endpoint {
  var path: String { "/headlines" }
}

struct Grant: Decodable, Sendable {
  var accessToken: String
  var refreshToken: String?
  var expiresIn: Double?
}

extension Grant {
  var token: Token { Token(access: accessToken, refresh: refreshToken, expiresAt: expiresIn.map { Date.now + $0 }) }
}

struct Order: Endpoint {
  let id: Int
  var path: String { "/order/\(id)" }
}

struct AddPhoto: Endpoint {
  let photo: URL
  var path: String { "/photos" }
  var method: HTTPMethod { .post }
  var task: HTTPTask {
    var form = MultipartForm(["album": 7])
    form.append(.file(photo, name: "photo"))
    return .multipart(form)
  }
}

struct SendRecording: Endpoint {
  let chunks: AsyncStream<Data>
  var path: String { "/recordings" }
  var method: HTTPMethod { .post }
  var task: HTTPTask {
    var body = Request.BodyStream(once: chunks)
    body.chunkTimeout = .seconds(30)
    return .stream(body, contentType: "audio/wav")
  }
}

struct Film: Endpoint {
  let id: Int
  var path: String { "/film/\(id)" }
}

func film(_ network: Network, to file: URL) -> Observable<TransferEvent<URL>> {
  network.transfer(downloadingTo: file) { Film(id: 7) }
    .retry(RetryPolicy(attempts: 5))
}

struct Prices: Endpoint {
  var path: String { "/prices" }
}

struct Price: Decodable, Sendable {
  var name: String
  var cents: Int
}

#if os(Linux)
  func transport(pin: String, backup: String) throws -> CurlTransport {
    try CurlTransport(.init(tls: .init(pins: ["api.example.com": [PublicKeyPin(pin), PublicKeyPin(backup)]])))
  }

  func transport(authority: URL) throws -> CurlTransport {
    try CurlTransport(
      .init(tls: .init(trust: .pem(file: authority), minVersion: .v1_3), proxy: .environment, maxConnectionsPerHost: 32)
    )
  }

  func localServices(canary: String) throws -> CurlTransport {
    try CurlTransport(
      .init(addresses: [
        "api.example.com": .host(canary, port: 8443),
        "docker.local": .unixSocket(path: "/var/run/docker.sock"),
      ]))
  }

  func service(at url: URL, over transport: CurlTransport) -> Network {
    Network(Backend(baseURL: url, transport: transport, options: .init(httpVersion: .http2)))
  }

  func report(on transport: CurlTransport) async {
    let gauges = await transport.gauges()
    print("connections: \(gauges.total.connections), idle: \(gauges.total.idle)")
    for (origin, counts) in gauges.origins { print("\(origin): \(counts.running) running, \(counts.waiting) waiting") }
  }

  func capabilities() {
    if let curl = CurlTransport.capabilities {
      print("libcurl \(curl.version), HTTP/2: \(curl.http2), brotli: \(curl.brotli)")
    }
  }
#endif

struct RequestID: Interceptor {
  func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    var request = request
    request.headers["X-Request-ID"] = "r-\(request.url.lastPathComponent)"
    return next(request)
  }
}

func stamping(with clock: any Stamping) -> AsyncInterceptor {
  let stamp = AsyncInterceptor { request, next in
    var request = request
    request.headers["X-Stamp"] = try await clock.stamp()
    return try await next(request)
  }
  return stamp
}

protocol Stamping: Sendable {
  func stamp() async throws -> String
}

struct Slow: Interceptor {
  let limit: Duration
  func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    next(request).do(onNext: { response in
      if response.waitedForLimit > limit { print("slow: \(request.url.path)") }
    })
  }
}

struct Maintenance: Interceptor {
  let isOn: @Sendable () -> Bool
  func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    .deferred {
      guard isOn() else { return next(request) }
      return .error(NetworkError(kind: .connection, message: "维护中", reason: "maintenance"))
    }
  }
}

enum GitHubAPI: Endpoint {
  case profile(String)
  var path: String {
    switch self {
    case .profile(let name): "/users/\(name.urlEscaped)"
    }
  }
}

func weather(of city: String, on network: Network) async throws(NetworkError) -> City {
  try await network.fetch(.get("/weather", query: ["city": city]))
}

import CurlLoop
import Foundation
import NetLayer
import Streams
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// One way to fetch the same URL repeatedly.
struct Client {
  let name: String
  /// Whether the client sends one request at a time only.
  var isSingle = false
  /// A function that keeps `inFlight` requests in flight for `seconds` and waits for those still in flight. It returns
  /// the number of requests, or `nil` if any of them failed.
  let run: (_ inFlight: Int, _ seconds: Double) -> Int?
}

/// The URL that all clients fetch.
struct Resource {
  var url: URL
  var bytes: Int
  /// The certificate of a server over TLS.
  var certificate: URL?
  var http2 = false
  var connections = Connections.kept

  enum Connections {
    case kept
    /// A new one for each request.
    case closed
  }
}

enum Clients {
  /// The maximum number of connections from each client to the server. It is reached only by the handshakes.
  static let connections = 512

  /// Returns the clients. Foundation's `URLSession` on Linux trusts only the system's certificates, so that it fetches only
  /// without TLS.
  static func all(_ resource: Resource) throws -> [Client] {
    var clients = cLoops(resource)
    clients.append(curl(resource, on: try transport(resource)))
    clients += try netLayer(resource)
    #if canImport(AsyncHTTPClient)
      clients += try AsyncHTTPClientPeer.clients(resource)
    #endif
    guard resource.certificate == nil else { return clients }
    let decoder = JSONDecoder()
    return clients + [
      urlSession("URLSession", resource.url) { $0?.count == resource.bytes },
      urlSession("URLSession+JSONDecoder", resource.url) { data in
        data.flatMap { try? decoder.decode(Wrapped<User>.self, from: $0) }?.data.id == 7
      },
    ]
  }

  static func cLoops(_ resource: Resource, use: Int = CURL_LOOP_KEEPS) -> [Client] {
    if let reason = curl_loop_load().map({ String(cString: $0) }) {
      say("C loop: skipped, \(reason)")
      return []
    }
    @Sendable func withTarget(_ body: (curl_loop_target) -> Int) -> Int? {
      resource.url.absoluteString.withCString { url in
        (resource.certificate?.path ?? "").withCString { certificate in
          let count = body(
            curl_loop_target(
              url: url, certificate: resource.certificate == nil ? nil : certificate, http2: resource.http2 ? 1 : 0,
              connections: Int32(use), bytes: resource.bytes))
          return count < 0 ? nil : count
        }
      }
    }
    return [
      Client(name: "C loop") { inFlight, seconds in withTarget { curl_loop_run($0, Int32(inFlight), seconds) } },
      Client(name: "C loop on a thread", isSingle: true) { _, seconds in
        withTarget { curl_loop_run_on_thread($0, seconds) }
      },
    ]
  }

  static func transport(_ resource: Resource) throws -> any Transport {
    #if os(Linux)
      try CurlTransport(
        .init(
          tls: resource.certificate.map { .init(trust: .pem(file: $0)) } ?? .init(), maxConnectionsPerHost: connections,
          maxConnections: connections))
    #else
      URLSessionTransport()
    #endif
  }

  static func curl(_ resource: Resource, on transport: any Transport) -> Client {
    var request = Request(url: resource.url)
    request.options.httpVersion = resource.http2 ? .http2 : .http1
    if resource.connections == .closed { request.headers["Connection"] = "close" }
    return looping("CurlTransport") { [request] done in
      _ = transport.send(request) { result in
        switch result {
        case .success(let response): done(response.status == 200 && response.body.count == resource.bytes)
        case .failure: done(false)
        }
      }
    }
  }

  /// Returns NetLayer as a stream, whose events send the next request, and as tasks.
  private static func netLayer(_ resource: Resource) throws -> [Client] {
    var backend = Backend(
      baseURL: resource.url.deletingLastPathComponent(), envelope: .standard, transport: try transport(resource))
    backend.options.httpVersion = resource.http2 ? .http2 : .http1
    let network = Network(backend)
    let path = resource.url.lastPathComponent
    let fetching = Client(name: "NetLayer fetch") { inFlight, seconds in
      let tally = Tally()
      let end = ContinuousClock.now + .seconds(seconds)
      for _ in 0..<inFlight {
        Task {
          var (done, failed) = (0, 0)
          repeat {
            if (try? await network.fetch(.get(path), as: User.self).id) == 7 { done += 1 } else { failed += 1 }
          } while failed == 0 && ContinuousClock.now < end
          tally.add(done, failed: failed)
        }
      }
      return tally.wait(for: inFlight)
    }
    return [
      looping("NetLayer") { done in
        _ = network.json(.get, path).data(User.self).subscribe(
          onNext: { done($0.id == 7) }, onError: { _ in done(false) })
      }, fetching,
    ]
  }

  private static func urlSession(_ name: String, _ url: URL, _ check: @escaping @Sendable (Data?) -> Bool) -> Client {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpMaximumConnectionsPerHost = connections
    configuration.urlCache = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    let session = URLSession(configuration: configuration)
    let request = URLRequest(url: url)
    return looping(name) { done in
      session.dataTask(with: request) { data, reply, _ in
        done((reply as? HTTPURLResponse)?.statusCode == 200 && check(data))
      }.resume()
    }
  }

  /// Returns a client that sends each request from the completion of the previous one.
  static func looping(
    _ name: String, _ send: @escaping @Sendable (_ done: @escaping @Sendable (Bool) -> Void) -> Void
  ) -> Client {
    Client(name: name) { inFlight, seconds in
      let race = Race(inFlight, until: .now + .seconds(seconds), send)
      return race.run()
    }
  }
}

/// The requests of a number of tasks.
private final class Tally: Sendable {
  private let counts = Mutex<(done: Int, failed: Int)>((0, 0))
  private let finished = DispatchSemaphore(value: 0)

  func add(_ done: Int, failed: Int) {
    counts.withLock { $0 = ($0.done + done, $0.failed + failed) }
    finished.signal()
  }

  /// Returns the number of requests, or `nil` if any failed.
  func wait(for tasks: Int) -> Int? {
    for _ in 0..<tasks { finished.wait() }
    return counts.withLock { $0.failed == 0 ? $0.done : nil }
  }
}

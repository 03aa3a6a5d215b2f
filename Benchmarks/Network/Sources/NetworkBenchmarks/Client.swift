import CurlLoop
import Foundation
import NetLayer
import Streams

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// One way to fetch the same URL repeatedly.
struct Client {
  let name: String
  /// A function that keeps `inFlight` requests in flight for `seconds` and waits for those still in flight. It returns
  /// the number of requests, or `nil` if any of them failed.
  let run: (_ inFlight: Int, _ seconds: Double) -> Int?
}

enum Clients {
  /// The maximum number of connections from each client to the server. It is never reached here.
  static let connections = 256

  static func all(_ url: URL, bytes: Int) throws -> [Client] {
    var clients: [Client] = []
    if let reason = curl_loop_load().map({ String(cString: $0) }) {
      say("C loop: skipped, \(reason)")
    } else {
      clients.append(
        Client(name: "C loop") { inFlight, seconds in
          let count = curl_loop_run(url.absoluteString, Int32(inFlight), seconds, bytes)
          return count < 0 ? nil : count
        })
    }
    clients.append(try curl(url, bytes))
    clients.append(urlSession("URLSession", url) { $0?.count == bytes })
    clients.append(try netLayer(url))
    #if canImport(AsyncHTTPClient)
      clients += AsyncHTTPClientPeer.clients(url, bytes: bytes)
    #endif
    let decoder = JSONDecoder()
    clients.append(
      urlSession("URLSession+JSONDecoder", url) { data in
        data.flatMap { try? decoder.decode(Wrapped<User>.self, from: $0) }?.data.id == 7
      })
    return clients
  }

  private static func transport() throws -> any Transport {
    #if os(Linux)
      try CurlTransport(.init(maxConnectionsPerHost: connections, maxConnections: connections))
    #else
      URLSessionTransport()
    #endif
  }

  private static func curl(_ url: URL, _ bytes: Int) throws -> Client {
    let transport = try transport()
    let request = Request(url: url)
    return looping("CurlTransport") { done in
      _ = transport.send(request) { result in
        switch result {
        case .success(let response): done(response.status == 200 && response.body.count == bytes)
        case .failure: done(false)
        }
      }
    }
  }

  private static func netLayer(_ url: URL) throws -> Client {
    let network = Network(
      Backend(baseURL: url.deletingLastPathComponent(), envelope: .standard, transport: try transport()))
    let path = url.lastPathComponent
    return looping("NetLayer") { done in
      _ = network.json(.get, path).data(User.self).subscribe(
        onNext: { done($0.id == 7) }, onError: { _ in done(false) })
    }
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

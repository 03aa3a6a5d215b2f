#if canImport(AsyncHTTPClient)
  import AsyncHTTPClient
  import Foundation
  import NIOCore
  import NIOPosix
  import NIOSSL

  /// AsyncHTTPClient with its futures, which cost less than its async functions, on threads that it chooses.
  enum AsyncHTTPClientPeer {
    static func clients(_ resource: Resource) throws -> [Client] { clients(resource, on: try client(resource)) }

    static func client(_ resource: Resource) throws -> HTTPClient {
      var configuration = HTTPClient.Configuration()
      configuration.httpVersion = resource.http2 ? .automatic : .http1Only
      configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = Clients.connections
      if let certificate = resource.certificate {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .file(certificate.path)
        configuration.tlsConfiguration = tls
      }
      return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    static func clients(_ resource: Resource, on client: HTTPClient) -> [Client] {
      guard var request = try? HTTPClient.Request(url: resource.url.absoluteString) else { return [] }
      if resource.connections == .closed { request.headers.add(name: "Connection", value: "close") }
      let sent = request
      let decoder = JSONDecoder()
      @Sendable func fetch(
        _ done: @escaping @Sendable (Bool) -> Void, _ check: @escaping @Sendable (ByteBuffer) -> Bool
      ) {
        client.execute(request: sent).whenComplete { result in
          switch result {
          case .success(let response): done(response.status == .ok && response.body.map(check) == true)
          case .failure: done(false)
          }
        }
      }
      return [
        Clients.looping("AsyncHTTPClient") { done in fetch(done) { $0.readableBytes == resource.bytes } },
        Clients.looping("AsyncHTTPClient+JSONDecoder") { done in
          fetch(done) { body in
            (try? decoder.decode(Wrapped<User>.self, from: Data(body.readableBytesView)))?.data.id == 7
          }
        },
      ]
    }
  }
#endif

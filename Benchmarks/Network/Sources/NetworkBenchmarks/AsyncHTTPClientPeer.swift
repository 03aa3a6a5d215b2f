#if canImport(AsyncHTTPClient)
  import AsyncHTTPClient
  import Foundation
  import NIOCore
  import NIOPosix

  /// AsyncHTTPClient with its futures, which cost less than its async functions, on threads that it chooses.
  enum AsyncHTTPClientPeer {
    static func clients(_ url: URL, bytes: Int) -> [Client] {
      var configuration = HTTPClient.Configuration()
      configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = Clients.connections
      let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
      guard let request = try? HTTPClient.Request(url: url.absoluteString) else { return [] }
      let decoder = JSONDecoder()
      @Sendable func fetch(
        _ done: @escaping @Sendable (Bool) -> Void, _ check: @escaping @Sendable (ByteBuffer) -> Bool
      ) {
        client.execute(request: request).whenComplete { result in
          switch result {
          case .success(let response): done(response.status == .ok && response.body.map(check) == true)
          case .failure: done(false)
          }
        }
      }
      return [
        Clients.looping("AsyncHTTPClient") { done in fetch(done) { $0.readableBytes == bytes } },
        Clients.looping("AsyncHTTPClient+JSONDecoder") { done in
          fetch(done) { body in
            (try? decoder.decode(Wrapped<User>.self, from: Data(body.readableBytesView)))?.data.id == 7
          }
        },
      ]
    }
  }
#endif

import AsyncHTTPClient
import Foundation
import NIOCore
import NIOSSL
import Payload

// AsyncHTTPClient with a number of requests in flight, each decoded by Foundation's JSONDecoder.

guard let work = Work(CommandLine.arguments) else { fatalError("usage: PeerClient URL IN-FLIGHT SECONDS CA [1.1|2]") }
var configuration = HTTPClient.Configuration()
configuration.httpVersion = work.isHTTP2 ? .automatic : .http1Only
configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 256
var tls = TLSConfiguration.makeClientConfiguration()
tls.trustRoots = .file(work.certificate)
configuration.tlsConfiguration = tls
let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
let decoder = JSONDecoder()
await work.run {
  let response = try await client.execute(HTTPClientRequest(url: work.url.absoluteString), timeout: .seconds(30))
  let body = try await response.body.collect(upTo: 1 << 20)
  return try decoder.decode(Wrapped.self, from: Data(body.readableBytesView))
}
try await client.shutdown()

import Foundation
import NetLayer
import Payload

// NetLayer with a number of requests in flight, each decoded.

guard let work = Work(CommandLine.arguments) else {
  fatalError("usage: LanguagesClient URL IN-FLIGHT SECONDS CA [1.1|2]")
}
#if os(Linux)
  let transport = try CurlTransport(
    .init(tls: .init(trust: .pem(file: URL(filePath: work.certificate))), maxConnectionsPerHost: 256))
#else
  let transport: (any Transport)? = nil
#endif
var backend = Backend(baseURL: work.url, transport: transport)
if work.isHTTP2 { backend.options.httpVersion = .http2 }
let network = Network(backend)
await work.run { try await network.fetch(.get(work.url)) }

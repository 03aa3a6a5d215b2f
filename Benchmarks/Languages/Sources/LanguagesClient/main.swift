import Foundation
import NetLayer
import Payload

// NetLayer with a number of requests in flight, each decoded; with EXECUTOR=1 on the transport's thread.

guard let work = Work(CommandLine.arguments) else {
  fatalError("usage: LanguagesClient URL IN-FLIGHT SECONDS CA [1.1|2]")
}
#if os(Linux)
  let transport = try CurlTransport(
    .init(tls: .init(trust: .pem(file: URL(filePath: work.certificate))), maxConnectionsPerHost: 256))
  let executor = ProcessInfo.processInfo.environment["EXECUTOR"] == nil ? nil : transport.executor
#else
  let transport: (any Transport)? = nil
  let executor: (any TaskExecutor)? = nil
#endif
var backend = Backend(baseURL: work.url, transport: transport)
if work.isHTTP2 { backend.options.httpVersion = .http2 }
let network = Network(backend)
await withTaskExecutorPreference(executor) {
  await work.run { try await network.fetch(.get(work.url)) }
}

import AsyncHTTPClient
import Foundation
import GatewayServer
import NIOCore
import NIOFoundationCompat

/// The two services, called with AsyncHTTPClient, for the comparison.
struct AsyncHTTPClientUpstreams: Upstreams {
  let settings: Settings
  let client: HTTPClient

  func page(_ id: Int, before deadline: Deadline) async throws -> ArticlePage {
    let article: Article = try await fetch("articles", "\(settings.articles)/articles/\(id)", before: deadline)
    let author: Author = try await fetch("authors", "\(settings.authors)/authors/\(article.author)", before: deadline)
    return ArticlePage(article, by: author)
  }

  private func fetch<Model: Decodable>(_ name: String, _ url: String, before deadline: Deadline) async throws -> Model {
    let remaining = deadline.remaining
    var request = HTTPClientRequest(url: url)
    request.headers.add(name: "Accept", value: "application/json")
    request.headers.add(name: Deadline.header, value: "\(Deadline.milliseconds(remaining))")
    do {
      let response = try await client.execute(request, deadline: .now() + TimeAmount(remaining))
      switch response.status.code {
      case 200..<300: return try JSONDecoder().decode(Model.self, from: await response.body.collect(upTo: 1 << 20))
      case 404: throw GatewayError.notFound(in: name)
      case 429, 503:
        let seconds = response.headers.first(name: "Retry-After").flatMap { Double($0) }
        throw GatewayError.overload(of: name, retryAfter: seconds.map { .seconds($0) })
      case 504: throw GatewayError.timeout(of: name)
      default: throw GatewayError.failure(of: name)
      }
    } catch let error as HTTPClientError where error == .deadlineExceeded || error == .connectTimeout {
      throw GatewayError.timeout(of: name)
    } catch let error as GatewayError {
      throw error
    } catch {
      throw GatewayError.failure(of: name)
    }
  }
}

let settings = try Settings()
var configuration = HTTPClient.Configuration()
configuration.timeout.connect = .seconds(1)
configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = settings.connections
let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
try await Gateway(AsyncHTTPClientUpstreams(settings: settings, client: client), settings).run()
try await client.shutdown().get()

import Foundation
import GatewayServer
import NetLayer
import NetLayerLogging
import NetLayerMetrics
import NetLayerTracing

/// The two services, called with NetLayer.
struct NetLayerUpstreams: Upstreams {
  private let articles: Service
  private let authors: Service
  private let executor: (any TaskExecutor)?

  init(_ settings: Settings, transport: CurlTransport) {
    executor = settings.runsOnTransport ? transport.executor : nil
    // Both services share the interceptors. Budget, cache and shared requests keep origins apart.
    let interceptors: [any Interceptor] = [
      CallEventHandler.logging(to: settings.logger("upstreams"), level: .debug),
      CallEventHandler.metrics(),
      CoalescingInterceptor(),
      CacheInterceptor(ResponseCache(storingIn: nil, maxMemorySize: 64 << 20)),
      RetryInterceptor(policy: RetryPolicy(attempts: 3, initialDelay: .milliseconds(50)), budget: RetryBudget()),
      CircuitBreakerInterceptor(maxPause: .seconds(2)),
      TracingInterceptor(),
      LimitInterceptor(maxPerHost: settings.connections, maxWait: .milliseconds(250)),
      DeadlineInterceptor(),
    ]
    func service(_ name: String, at url: URL) -> Service {
      let backend = Backend(
        baseURL: url, transport: transport, timeouts: .init(connect: .seconds(1)),
        interceptors: settings.isPlain ? [DeadlineInterceptor()] : interceptors)
      return Service(name: name, network: Network(backend))
    }
    articles = service("articles", at: settings.articles)
    authors = service("authors", at: settings.authors)
  }

  func page(_ id: Int, before deadline: Deadline) async throws -> ArticlePage {
    try await withTaskExecutorPreference(executor) {
      let article: Article = try await articles.fetch(["articles", "\(id)"], before: deadline)
      let author: Author = try await authors.fetch(["authors", "\(article.author)"], before: deadline)
      return ArticlePage(article, by: author)
    }
  }
}

/// A service behind the gateway.
private struct Service: Sendable {
  let name: String
  let network: Network

  func fetch<Model: Decodable & Sendable>(
    _ path: [String], before deadline: Deadline
  ) async throws(GatewayError) -> Model {
    do {
      return try await network.fetch(.get(path).timeout(deadline.remaining))
    } catch {
      throw gatewayError(error)
    }
  }

  private func gatewayError(_ error: NetworkError) -> GatewayError {
    switch (error.kind, error.response?.status) {
    case (.timeout, _), (.status, 504): .timeout(of: name)
    case (.status, 404): .notFound(in: name)
    case (.status, 429), (.status, 503), (.unavailable, _): .overload(of: name, retryAfter: error.retryAfter)
    default: .failure(of: name)
    }
  }
}

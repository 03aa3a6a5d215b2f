import Hummingbird
import HummingbirdCore
import ServiceLifecycle

/// The service: `GET /article/:id` returns an article with its author, from two upstreams.
package struct Gateway: Sendable {
  private let upstreams: any Upstreams
  private let settings: Settings

  package init(_ upstreams: any Upstreams, _ settings: Settings) {
    (self.upstreams, self.settings) = (upstreams, settings)
  }

  /// Serves requests until SIGTERM or SIGINT, then completes the requests that have arrived.
  ///
  /// - Parameter configure: Adds middleware and routes, before the gateway's own route.
  package func run(_ configure: (Router<BasicRequestContext>) -> Void = { _ in }) async throws {
    let router = Router()
    router.addMiddleware { ClosingMiddleware() }
    configure(router)
    router.get("article/:id") { [upstreams] request, context in
      let deadline = Deadline(request.headers)
      return try await upstreams.page(context.parameters.require("id", as: Int.self), before: deadline)
    }
    let logger = settings.logger("gateway")
    let app = Application(
      router: router, server: HTTPServerBuilder { CancellingChannel(responder: $0) },
      configuration: .init(address: .hostname("127.0.0.1", port: settings.port), backlog: 1024),
      logger: logger)
    var configuration = ServiceGroupConfiguration(
      services: [app], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
    // Every request ends at its deadline, so this limit is only for a fault.
    configuration.maximumGracefulShutdownDuration = Deadline.longest * 2
    try await ServiceGroup(configuration: configuration).run()
  }
}

/// Middleware that announces the end of the connection during the shutdown, so that clients send no further request on it.
private struct ClosingMiddleware: RouterMiddleware {
  func handle(
    _ request: Request, context: BasicRequestContext,
    next: (Request, BasicRequestContext) async throws -> Response
  ) async throws -> Response {
    var response = try await next(request, context)
    if Task.isShuttingDownGracefully { response.headers[.connection] = "close" }
    return response
  }
}

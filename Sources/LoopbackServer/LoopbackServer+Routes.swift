import PortableFoundation

extension LoopbackServer {
  /// A table of routes: method and path pattern to handler; the first that matches answers.
  ///
  /// A pattern's parts match literally, `:name` matches one part and gives it as `request.parameters["name"]`, and a
  /// closing `*` matches the rest.
  ///
  ///     var routes = LoopbackServer.Routes()
  ///     routes.on("GET", "/user/:id") { .json(#"{"id":"\#($0.parameters["id"] ?? "")"}"#) }
  public struct Routes: Sendable {
    private struct Route: Sendable {
      let method: String?
      let parts: [Substring]
      let handler: Handler
    }

    private var routes: [Route] = []

    /// An empty table: everything gets 404.
    public init() {}

    /// Adds a route; a `method` of `nil` takes any.
    public mutating func on(_ method: String?, _ pattern: String, _ handler: @escaping Handler) {
      routes.append(
        Route(
          method: method, parts: pattern.split(separator: "/", omittingEmptySubsequences: false), handler: handler))
    }

    /// The answer of the first route that matches, else 404, or 405 when only the method differs.
    public func respond(to request: Request) -> Response {
      let parts = request.path.split(separator: "/", omittingEmptySubsequences: false)
      var pathKnown = false
      for route in routes {
        guard let parameters = Self.match(route.parts, parts) else { continue }
        pathKnown = true
        guard route.method == nil || route.method == request.method else { continue }
        var routed = request
        routed.parameters = parameters
        return route.handler(routed)
      }
      return .text("no route for \(request.method) \(request.path)", status: pathKnown ? 405 : 404)
    }

    private static func match(_ pattern: [Substring], _ parts: [Substring]) -> [String: String]? {
      var parameters: [String: String] = [:]
      for (index, part) in pattern.enumerated() {
        if part == "*", index == pattern.count - 1 { return parameters }
        guard index < parts.count else { return nil }
        if part.hasPrefix(":") {
          parameters[String(part.dropFirst())] = parts[index].decodingPercent ?? String(parts[index])
        } else if part != parts[index] {
          return nil
        }
      }
      return pattern.count == parts.count ? parameters : nil
    }
  }
}

import PortableFoundation

extension TestServer {
  /// A table of routes that maps methods and path patterns to handlers. The first match is used.
  ///
  /// The parts of a pattern match literally. `:name` matches one part, which is available as
  /// `request.parameters["name"]`, and a final `*` matches the rest.
  ///
  ///     var routes = TestServer.Routes()
  ///     routes.on("GET", "/user/:id") { .json(#"{"id":"\#($0.parameters["id"] ?? "")"}"#) }
  public struct Routes: Sendable {
    private struct Route: Sendable {
      let method: String?
      let parts: [Substring]
      let handler: Handler
    }

    private var routes: [Route] = []

    /// Creates an empty table, which responds with 404 to all requests.
    public init() {}

    /// Adds a route. A `method` of `nil` matches all methods.
    public mutating func on(_ method: String?, _ pattern: String, _ handler: @escaping Handler) {
      routes.append(
        Route(
          method: method, parts: pattern.split(separator: "/", omittingEmptySubsequences: false), handler: handler))
    }

    /// Returns the response of the first matching route. Without one, returns status 404, or 405 if only the method
    /// differs.
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

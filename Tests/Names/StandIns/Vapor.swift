// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public final class Request {
  public init() {}
}

public final class Response {
  public init() {}
}

public final class WebSocket {
  public init() {}
}

public protocol Router {}

// Of NIOHTTP1 and RoutingKit, which Vapor exports.
public struct HTTPHeaders {
  public init() {}
}

public enum HTTPMethod {
  case GET
}

public struct Parameters {
  public init() {}
}

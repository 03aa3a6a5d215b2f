// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public struct Request {
  public init() {}
}

public struct Response {
  public init() {}
}

public final class Router<Context> {
  public init() {}
}

public struct Parameters {
  public init() {}
}

// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

open class Endpoint {
  public init() {}
}

public final class Response {
  public init() {}
}

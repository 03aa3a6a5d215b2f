// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public class Request {
  public init() {}
}

public class Interceptor {
  public init() {}
}

public class RetryPolicy {
  public init() {}
}

public class AuthenticationInterceptor<Authenticator> {
  public init() {}
}

public protocol ParameterEncoder {}
public protocol URLConvertible {}

public class JSONParameterEncoder: ParameterEncoder {
  public init() {}
}

public struct HTTPHeaders {
  public init() {}
}

public struct HTTPMethod: Sendable {
  public static let get = HTTPMethod()
}

public typealias Parameters = [String: any Sendable]

// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Dispatch
import FoundationNetworking
import Security

public struct NWPath: Sendable {
  public enum Status: Sendable { case satisfied, unsatisfied, requiresConnection }
  public let status: Status
}

public final class NWPathMonitor: @unchecked Sendable {
  public var pathUpdateHandler: (@Sendable (NWPath) -> Void)?
  public var currentPath: NWPath { NWPath(status: .satisfied) }
  public init() {}
  public func start(queue: DispatchQueue) {}
  public func cancel() {}
}

public enum NWEndpoint: Sendable {
  public struct Host: Sendable {
    public init(_ string: String) {}
  }
  public struct Port: Sendable, ExpressibleByIntegerLiteral {
    public init(integerLiteral value: UInt16) {}
    public init?(rawValue: UInt16) {}
  }
  case hostPort(host: Host, port: Port)
}

public class NWProtocolOptions {}

public class NWProtocolTLS {
  public class Options: NWProtocolOptions {
    public let securityProtocolOptions = sec_protocol_options_t()
    public override init() {}
  }
}

public struct ProxyConfiguration: Sendable {
  public var allowFailover = false
  public var excludedDomains: [String] = []
  public var matchDomains: [String] = []
  public init(httpCONNECTProxy proxy: NWEndpoint, tlsOptions: NWProtocolTLS.Options? = nil) {}
  public init(socksv5Proxy proxy: NWEndpoint) {}
  public mutating func applyCredential(username: String, password: String) {}
}

extension URLSessionConfiguration {
  public var proxyConfigurations: [ProxyConfiguration] {
    get { [] }
    set {}
  }
}

// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// Declarations of Apple's Network; its module has the name of a type of this package.
public struct NWPathMonitor {
  public init() {}
}

/// Since iOS 26 and macOS 26.
public struct WebSocket {
  public init() {}
}

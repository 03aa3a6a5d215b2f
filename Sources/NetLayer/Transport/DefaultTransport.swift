/// Chooses the transport where the caller names none.
public enum DefaultTransport {
  /// A new transport: over libcurl on Linux, where one from 7.68 on is installed; over `URLSession` elsewhere.
  public static func make() -> any Transport {
    #if canImport(CCurl)
      if let transport = try? CurlTransport() { return transport }
    #endif
    return URLSessionTransport()
  }
}

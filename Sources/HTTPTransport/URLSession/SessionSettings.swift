#if HAS_URLSESSION
  import Foundation

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  extension URLSessionTransport.Configuration {
    /// Returns the configuration of a new session: the changes of `configure`, and then the properties that belong to
    /// the transport.
    func makeSessionConfiguration() -> URLSessionConfiguration {
      let session = URLSessionConfiguration.ephemeral
      configure(session)
      session.httpMaximumConnectionsPerHost = maxConnectionsPerHost
      session.httpCookieStorage = nil
      session.httpCookieAcceptPolicy = .never
      session.httpShouldSetCookies = false
      session.urlCache = nil
      session.requestCachePolicy = .reloadIgnoringLocalCacheData
      session.urlCredentialStorage = nil
      session.httpAdditionalHeaders = nil
      // Far above the limits of this transport, so that the session's limits never expire first.
      session.timeoutIntervalForRequest = Self.requestLimit
      session.timeoutIntervalForResource = 365 * 86_400
      #if canImport(Darwin)
        applyTLSAndProxy(to: session)
      #endif
      return session
    }

    /// The session's own limit between two chunks, in seconds.
    static var requestLimit: TimeInterval { 86_400 }
  }
#endif

#if HAS_URLSESSION
  import Foundation

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  /// The checked settings of a transport, which all of its sessions share.
  struct SessionSettings: Sendable {
    let configuration: URLSessionTransport.Configuration
    /// The error of the configuration, with which every request fails.
    let failure: NetworkError?
    #if canImport(Darwin)
      /// The responses to challenges of TLS; `nil` if the configuration is invalid.
      let trust: SessionTrust?
    #endif

    init(_ configuration: URLSessionTransport.Configuration) {
      self.configuration = configuration
      var failure = configuration.failure()
      #if canImport(Darwin)
        do throws(NetworkError) {
          trust = try SessionTrust(configuration.tls)
        } catch {
          trust = nil
          failure = failure ?? error
        }
      #endif
      self.failure = failure
    }

    /// Creates a session. The queue is also that of the delegate.
    func makeSession(delegate: any URLSessionDelegate, queue: DispatchQueue) -> URLSession {
      let operations = OperationQueue()
      operations.underlyingQueue = queue
      operations.maxConcurrentOperationCount = 1
      return URLSession(
        configuration: configuration.makeSessionConfiguration(), delegate: delegate, delegateQueue: operations)
    }
  }

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

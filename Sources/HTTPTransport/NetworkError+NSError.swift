#if HAS_URLSESSION
  import Foundation

  extension NetworkError: CustomNSError {
    /// The domain of the articles' `NSError`s.
    public static var errorDomain: String { "NetLayer.NetworkError" }
    /// The same as `code`.
    public var errorCode: Int { code }
    /// The localized description, the failure reason, and the underlying error.
    public var errorUserInfo: [String: Any] {
      var info: [String: Any] = [
        NSLocalizedDescriptionKey: message, NSLocalizedFailureReasonErrorKey: failureReason ?? reason,
      ]
      if let underlying { info[NSUnderlyingErrorKey] = underlying }
      return info
    }
  }
#endif

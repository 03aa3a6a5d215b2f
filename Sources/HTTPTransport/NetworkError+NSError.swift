#if HAS_URLSESSION
  import Foundation

  extension NetworkError: CustomNSError {
    /// The domain of the articles' `NSError`s (article row 0.24).
    public static var errorDomain: String { "com.example.networkerror" }
    /// The same as `code`.
    public var errorCode: Int { code }
    /// The localised description and failure reason, and the cause.
    public var errorUserInfo: [String: Any] {
      var info: [String: Any] = [
        NSLocalizedDescriptionKey: message, NSLocalizedFailureReasonErrorKey: redaction.text(reason),
      ]
      if let underlying { info[NSUnderlyingErrorKey] = underlying }
      return info
    }
  }
#endif

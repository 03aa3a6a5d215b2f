#if canImport(CLibcurl)
  import CLibcurl

  /// The facts that are certain about a request that libcurl has ended. libcurl does not report whether a server has processed a
  /// request, so nothing is concluded from its texts, and a request that is not certainly unsent may have been processed.
  enum CurlFate: Equatable {
    /// The response is complete, as far as libcurl knows: the framing and the content coding are checked, too.
    case complete
    /// No byte was sent: the transport refused the kept connection.
    case notSent
    /// The connection was lost before the final head, or libcurl was about to send the request again.
    case mayHaveBeenProcessed
    /// The connection was lost after the final head, or within it.
    case truncated
    /// Any other error, such as a refused connection. It is reported as it is.
    case failed

    /// The codes of libcurl for a lost connection, after which an HTTP/2 connection is not used any more.
    static let connectionLosses = [
      CURLE_HTTP2, CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR,
    ]
    /// The same, and the code for a lost stream.
    private static let losses = connectionLosses + [CURLE_HTTP2_STREAM]

    /// - Parameters:
    ///   - starts: The number of times that libcurl has started to send the request.
    ///   - isRefused: Whether the transport has refused the connection at the first start.
    ///   - status: The status of the last head, also of an incomplete one; 0 without a head.
    init(code: CURLcode, starts: Int, isRefused: Bool, status: Int, isHeadComplete: Bool, isBodyComplete: Bool) {
      if isRefused {
        self = .notSent
      } else if code == CURLE_OK {
        self = isHeadComplete ? .complete : .truncated
      } else if isHeadComplete, isBodyComplete, starts == 1, Self.losses.contains(code) {
        self = .complete
      } else if status < 200, starts > 1 || Self.losses.contains(code) {
        self = .mayHaveBeenProcessed
      } else {
        self = status >= 200 && Self.losses.contains(code) ? .truncated : .failed
      }
    }
  }
#endif

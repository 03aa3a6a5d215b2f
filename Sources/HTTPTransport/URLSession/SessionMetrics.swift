#if HAS_URLSESSION
  import Foundation

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  /// The facts that a session states about the last request of a transfer.
  ///
  /// The dates are those of `URLSessionTaskTransactionMetrics`. Without a new connection, the session does not set those
  /// of the name lookup, the connection and TLS.
  struct SessionMetrics: Sendable {
    var fetchStart: Date?
    var lookupStart: Date?
    var lookupEnd: Date?
    var connectStart: Date?
    /// The end of the connection, including TLS.
    var connectEnd: Date?
    var tlsStart: Date?
    var tlsEnd: Date?
    var requestStart: Date?
    var requestEnd: Date?
    var responseStart: Date?
    var isReused = false
    /// The protocol's name of ALPN (RFC 7301), such as `h2`.
    var protocolName: String?
    var address: String?
    var port: Int?
    /// The bytes of the response's body before decoding.
    var bytesReceived: Int64?

    /// Returns the measurements of a transfer.
    func metrics(after earlier: Duration, adding known: TransferMetrics) -> TransferMetrics {
      let zero: Duration? = isReused ? .zero : nil
      let connected = tlsStart ?? connectEnd
      return TransferMetrics(
        queued: Self.span(fetchStart, lookupStart ?? connectStart ?? requestStart),
        // An address needs no lookup.
        nameLookup: zero ?? (lookupStart == nil && connectStart != nil ? .zero : Self.span(lookupStart, lookupEnd)),
        connect: zero ?? Self.span(connectStart, connected),
        tls: zero ?? (tlsStart == nil && connectEnd != nil ? .zero : Self.span(tlsStart, tlsEnd)),
        send: Self.span(requestStart, requestEnd), firstByte: Self.span(fetchStart, responseStart).map { earlier + $0 },
        total: known.total, bytesSent: known.bytesSent, bytesReceived: bytesReceived ?? known.bytesReceived,
        httpVersion: httpVersion, remoteAddress: remoteAddress,
        isReused: requestStart == nil ? nil : isReused, redirects: known.redirects)
    }

    /// Returns the time between two dates; `nil` if one is missing, or the clock was set back in between.
    private static func span(_ start: Date?, _ end: Date?) -> Duration? {
      guard let start, let end, end >= start else { return nil }
      return .nanoseconds(Int64((Swift.min(end.timeIntervalSince(start), 1e9) * 1e9).rounded()))
    }

    private var httpVersion: String? {
      switch protocolName?.lowercased() {
      case "http/1.0": "1.0"
      case "http/1.1": "1.1"
      case "h2", "h2c": "2"
      case "h3": "3"
      default: nil
      }
    }

    private var remoteAddress: String? {
      guard let address, let port else { return nil }
      return address.contains(":") ? "[\(address)]:\(port)" : "\(address):\(port)"
    }
  }

  // Foundation on Linux does not measure the phases.
  #if !canImport(FoundationNetworking)
    extension SessionMetrics {
      /// Creates the facts of the last request that used the network; `nil` if none did.
      init?(_ metrics: URLSessionTaskMetrics) {
        guard let last = metrics.transactionMetrics.last(where: { $0.resourceFetchType == .networkLoad }) else {
          return nil
        }
        fetchStart = last.fetchStartDate
        (lookupStart, lookupEnd) = (last.domainLookupStartDate, last.domainLookupEndDate)
        (connectStart, connectEnd) = (last.connectStartDate, last.connectEndDate)
        (tlsStart, tlsEnd) = (last.secureConnectionStartDate, last.secureConnectionEndDate)
        (requestStart, requestEnd) = (last.requestStartDate, last.requestEndDate)
        responseStart = last.responseStartDate
        isReused = last.isReusedConnection
        protocolName = last.networkProtocolName
        address = last.remoteAddress
        port = last.remotePort
        bytesReceived = last.countOfResponseBodyBytesReceived
      }
    }
  #endif
#endif

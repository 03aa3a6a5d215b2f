#if canImport(CLibcurl)
  import CLibcurl
  import PortableFoundation

  extension CurlHandle {
    /// The uptime in nanoseconds at which the connection was established; `nil` until then.
    var connectedAt: UInt64? {
      if CurlLibrary.asksBeforeSending { return attempt.sentAt }
      let micros = ccurl_easy_get_int64(easy, CURLINFO_PRETRANSFER_TIME_T)
      return micros > 0 ? attempt.startedAt + UInt64(micros) * 1000 : nil
    }

    /// The proxy of the current request; `nil` without one.
    var route: ProxyRoute? {
      guard let route = settings.route else { return nil }
      if case .unixSocket = attempt.address?.kind { return nil }
      let host = (transfer?.currentRequest ?? attempt.opening)?.url.host ?? ""
      return configuration.proxy.bypasses(host) ? nil : route
    }

    /// Whether no other transfer uses the connection, so that all received bytes belong to its response.
    var isAlone: Bool { transfer?.mayMultiplex == false || (response.status > 0 && !response.isHTTP2) }

    /// The number of bytes of the body that the system has accepted.
    var bytesSent: Int64 { Swift.max(0, ccurl_easy_get_int64(easy, CURLINFO_SIZE_UPLOAD_T)) }
    private var bytesReceived: Int64 { Swift.max(0, ccurl_easy_get_int64(easy, CURLINFO_SIZE_DOWNLOAD_T)) }

    /// The uptime in nanoseconds of the last input, including input that libcurl does not report, such as an incomplete line.
    /// After an informational head, only complete lines count. 0 over HTTP/2, where it may be of other requests.
    var lastInput: UInt64 {
      guard isAlone, response.status == 0 || response.status >= 200 else { return 0 }
      return UInt64(Swift.max(0, ccurl_multi_last_input(multi, connectionData)))
    }

    /// Whether nothing can arrive, because this side waits or pauses.
    var isOurTurn: Bool { reception.isHeld || reception.isPaused || isWaitingToSend }

    /// The number of bytes of both bodies since the response has begun; `nil` before, and while nothing can arrive.
    var movedBytes: Int64? {
      guard !isOurTurn, response.status >= 200 || lastInput > attempt.sentAt ?? .max else { return nil }
      return bytesSent + bytesReceived
    }

    var finalProgress: TransferProgress {
      let (sent, received) = (bytesSent, bytesReceived)
      return TransferProgress(sent: sent, sendTotal: sent, received: received, receiveTotal: received)
    }

    func metrics(of transfer: CurlTransfer, at now: UInt64) -> TransferMetrics {
      let raw = ccurl_easy_get_metrics(easy)
      func span(_ micros: Int64) -> Duration { .microseconds(Swift.max(0, micros)) }
      func since(_ start: UInt64, _ end: UInt64) -> Duration { end > start ? .nanoseconds(end - start) : .zero }
      return TransferMetrics(
        queued: since(transfer.submittedAt, transfer.startedAt ?? now), nameLookup: span(raw.name_lookup),
        connect: span(raw.connect - raw.name_lookup), tls: raw.tls <= 0 ? .zero : span(raw.tls - raw.connect),
        send: raw.posttransfer > 0 ? span(raw.posttransfer - raw.pretransfer) : nil,
        // libcurl counts an interim response, such as 100, which arrives before the body is sent.
        firstByte: raw.first_byte > 0
          ? since(transfer.submittedAt, attempt.sentAt ?? attempt.startedAt)
            + span(max(raw.first_byte, raw.posttransfer) - (attempt.sentAt == nil ? 0 : raw.pretransfer)) : nil,
        total: since(transfer.submittedAt, now), bytesSent: Swift.max(0, raw.sent),
        bytesReceived: Swift.max(0, raw.received), httpVersion: Self.version(raw.http_version),
        remoteAddress: raw.address.flatMap { remoteAddress($0, raw.port) }, isReused: raw.reused,
        redirects: transfer.trail.redirects.count)
    }

    /// Caches the text of the last address, because most transfers use the same server as the previous one.
    private func remoteAddress(_ raw: UnsafePointer<CChar>, _ port: Int) -> String? {
      guard raw.pointee != 0 else { return nil }
      let address = String(cString: raw)
      if remote.address != address || remote.port != port { remote = (address, port, Self.hostAndPort(address, port)) }
      return remote.text
    }

    /// Returns the address and port in the notation of URLs.
    static func hostAndPort(_ address: String, _ port: Int) -> String {
      // A Unix domain socket has a path and no port.
      address.hasPrefix("/") ? address : address.utf8.contains(0x3a) ? "[\(address)]:\(port)" : "\(address):\(port)"
    }

    private static func version(_ number: Int) -> String? {
      switch number {
      case CURL_HTTP_VERSION_1_0: "1.0"
      case CURL_HTTP_VERSION_1_1: "1.1"
      case CURL_HTTP_VERSION_2_0: "2"
      case CURL_HTTP_VERSION_3: "3"
      default: nil
      }
    }

    /// Whether the response uses HTTP/2 or HTTP/3, where requests share a connection.
    var isMultiplexed: Bool {
      [CURL_HTTP_VERSION_2_0, CURL_HTTP_VERSION_3].contains(ccurl_easy_get_long(easy, CURLINFO_HTTP_VERSION))
    }
  }
#endif

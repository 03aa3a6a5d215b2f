#if canImport(CCurl)
  import CCurl
  import PortableFoundation

  /// What libcurl knows of a transfer.
  extension CurlHandle {
    /// Whether the connection of this transfer stands, and since when (uptime in nanoseconds).
    var connectedAt: UInt64? {
      if CurlLibrary.asksBeforeSending { return sentAt }
      let micros = ccurl_easy_get_int64(easy, Int32(CCURL_PRETRANSFER_TIME))
      return micros > 0 ? startedAt + UInt64(micros) * 1000 : nil
    }

    /// The proxy that requests go through, for errors; `nil` where there is none, or the environment decides.
    var proxyPlace: String? {
      guard case .url(let url, let except) = configuration.proxy else { return nil }
      if case .unixSocket = address { return nil }
      guard let host = (transfer?.currentRequest ?? opening)?.url.host, !except.contains(host) else { return nil }
      return URL(string: CurlTransport.Proxy.withPort(url))?.hostAndPort
    }

    /// Whether TLS is spoken with the proxy, too.
    var isSecureProxy: Bool {
      if case .url(let url, _) = configuration.proxy { return url.scheme?.lowercased() == "https" }
      return false
    }

    /// Whether TLS may be spoken with the proxy, which the environment may name.
    var mayHaveSecureProxy: Bool { if case .environment = configuration.proxy { true } else { isSecureProxy } }

    /// Whether its connection is its own, so that what comes in on it is its response.
    var isAlone: Bool { transfer?.mayMultiplex == false || (answer.status > 0 && !answer.isHTTP2) }

    /// How much of the body the system has taken.
    var bytesSent: Int64 { Swift.max(0, ccurl_easy_get_int64(easy, Int32(CCURL_SIZE_UPLOAD))) }

    /// What has been transferred when all is done.
    var finalProgress: TransferProgress {
      let sent = bytesSent
      let received = Swift.max(0, ccurl_easy_get_int64(easy, Int32(CCURL_SIZE_DOWNLOAD)))
      return TransferProgress(sent: sent, toSend: sent, received: received, toReceive: received)
    }

    /// What the exchange has taken.
    func metrics(of transfer: CurlTransfer, at now: UInt64) -> TransferMetrics {
      let raw = ccurl_easy_get_metrics(easy)
      func seconds(_ micros: Int64) -> Double { Double(Swift.max(0, micros)) / 1e6 }
      func since(_ start: UInt64, _ end: UInt64) -> Double { end > start ? Double(end - start) / 1e9 : 0 }
      return TransferMetrics(
        queued: since(transfer.submittedAt, transfer.startedAt ?? now), nameLookup: seconds(raw.name_lookup),
        connect: seconds(raw.connect - raw.name_lookup), tls: raw.tls <= 0 ? 0 : seconds(raw.tls - raw.connect),
        firstByte: raw.first_byte > 0
          ? since(transfer.submittedAt, sentAt ?? startedAt)
            + seconds(raw.first_byte - (sentAt == nil ? 0 : raw.pretransfer)) : nil,
        total: since(transfer.submittedAt, now), bytesSent: Swift.max(0, raw.sent),
        bytesReceived: Swift.max(0, raw.received), httpVersion: Self.version(raw.http_version),
        remoteAddress: raw.address.flatMap { remoteAddress($0, raw.port) }, isReused: raw.reused,
        redirects: transfer.trail.redirects.count)
    }

    /// Its last one is kept as text: most exchanges are with the server of the one before.
    private func remoteAddress(_ raw: UnsafePointer<CChar>, _ port: Int) -> String? {
      guard raw.pointee != 0 else { return nil }
      let address = String(cString: raw)
      if remote.address != address || remote.port != port { remote = (address, port, Self.place(address, port)) }
      return remote.text
    }

    /// Address and port as URLs have them.
    static func place(_ address: String, _ port: Int) -> String {
      // The file of a Unix domain socket has no port.
      address.hasPrefix("/") ? address : address.utf8.contains(0x3a) ? "[\(address)]:\(port)" : "\(address):\(port)"
    }

    private static func version(_ number: Int) -> String? {
      switch number {
      case 1: "1.0"
      case 2: "1.1"
      case 3: "2"
      case 30: "3"
      default: nil
      }
    }

    /// Whether the response came over HTTP/2 or HTTP/3, where requests share a connection.
    var isMultiplexed: Bool {
      [Int(CCURL_HTTP_2), Int(CCURL_HTTP_3)].contains(ccurl_easy_get_long(easy, Int32(CCURL_INFO_HTTP_VERSION)))
    }
  }
#endif

#if canImport(CLibcurl)
  import PortableFoundation

  // Bug: libcurl writes the Host field with the brackets of the first request on a connection. On a kept connection to an
  // HTTP proxy, requests for other servers follow an address of IPv6 with brackets, or it follows them without.
  // Issue: none known. Versions: 7.88 has it, 8.23 has not.
  // Hook: `CurlHandle.fields(of:)`.
  // Test: `ProxyTests.test_theHostIsThatOfTheURL_onAKeptConnectionToAProxy`.
  // Delete this file when 8.23 is the oldest supported version.

  extension CurlHandle {
    private static let hasStaleHosts = !CurlLibrary.isAtLeast(0x08_1700)

    /// Returns the fields of the request, with the `Host` of its URL behind an HTTP proxy (RFC 9112 §3.2).
    func fields(of transfer: CurlTransfer) -> HTTPHeaders {
      let fields = transfer.currentRequest.headers
      guard Self.hasStaleHosts, let route = settings.route, !route.isSOCKS, !transfer.isSecure, fields["Host"] == nil
      else { return fields }
      var stated = fields
      let place = transfer.hostAndPort
      stated["Host"] = place.hasSuffix(":80") ? String(place.dropLast(3)) : place
      return stated
    }
  }
#endif

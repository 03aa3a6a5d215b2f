#if HAS_URLSESSION && canImport(Darwin)
  import Foundation
  import Security

  /// The responses of a transport to challenges of TLS: the trust in servers, and the client certificate.
  // @unchecked Sendable: all properties are constants, and neither a credential nor a certificate changes.
  final class SessionTrust: @unchecked Sendable {
    private let policy: TrustPolicy
    private let anchors: [SecCertificate]?
    private let credential: URLCredential?

    /// Creates the responses for `options`.
    ///
    /// - Throws: `NetworkError` of kind `tls` if a certificate, a pin or the client certificate is invalid.
    init(_ options: TLSOptions) throws(NetworkError) {
      policy = try TrustPolicy(options)
      if let authorities = policy.authorities {
        let anchors = authorities.compactMap { SecCertificateCreateWithData(nil, $0.der as CFData) }
        guard anchors.count == authorities.count else {
          throw Self.error("a certificate of TLSOptions.trust is not valid; use certificates in PEM format")
        }
        self.anchors = anchors
      } else {
        anchors = nil
      }
      if case .pkcs12(let data, let password) = options.identity?.kind {
        credential = try Self.credential(data, password)
      } else {
        credential = nil
      }
    }

    /// Returns whether a host needs its own session. HTTP/2 may send requests for a host over a connection to another
    /// host without a challenge, so a pinned host must not share connections.
    func isolates(_ host: String) -> Bool { policy.pins[host] != nil }

    /// Returns the response to a challenge in a request to `host`, and the error if the server is not trusted.
    func respond(
      to challenge: URLAuthenticationChallenge, host: String
    ) -> (URLSession.AuthChallengeDisposition, URLCredential?, NetworkError?) {
      let space = challenge.protectionSpace
      // The system connects to the proxy, with its CAs.
      guard !space.isProxy() else { return (.performDefaultHandling, nil, nil) }
      switch space.authenticationMethod {
      case NSURLAuthenticationMethodServerTrust:
        guard policy.restricts(host) else { return (.performDefaultHandling, nil, nil) }
        guard let trust = space.serverTrust else {
          return (
            .cancelAuthenticationChallenge, nil, Self.error("the system did not provide the certificates of \(host)")
          )
        }
        if let failure = evaluate(trust, host) { return (.cancelAuthenticationChallenge, nil, failure) }
        return (.useCredential, URLCredential(trust: trust), nil)
      case NSURLAuthenticationMethodClientCertificate:
        guard let credential else { return (.performDefaultHandling, nil, nil) }
        return (.useCredential, credential, nil)
      default: return (.performDefaultHandling, nil, nil)
      }
    }

    private func evaluate(_ trust: SecTrust, _ host: String) -> NetworkError? {
      // A download of missing intermediate certificates would block the session's queue.
      var status = SecTrustSetNetworkFetchAllowed(trust, false)
      if status == errSecSuccess, let anchors {
        status = SecTrustSetAnchorCertificates(trust, anchors as CFArray)
        if status == errSecSuccess { status = SecTrustSetAnchorCertificatesOnly(trust, true) }
      }
      guard status == errSecSuccess else {
        return Self.error("the system does not accept the CAs of TLSOptions.trust: \(Self.text(status))")
      }
      var cause: CFError?
      let isValid = SecTrustEvaluateWithError(trust, &cause)
      let rejection = isValid ? nil : cause.map { ($0 as Error).localizedDescription } ?? "the system rejects it"
      let certificates = SecTrustCopyCertificateChain(trust) as? [SecCertificate] ?? []
      let chain = certificates.compactMap { Certificate(der: SecCertificateCopyData($0) as Data) }
      return policy.failure(of: host, chain: chain, rejection: rejection)
    }

    /// Imports a client certificate into memory, so that no keychain changes.
    private static func credential(_ data: Data, _ password: String) throws(NetworkError) -> URLCredential {
      let options: [String: Any] = [
        kSecImportExportPassphrase as String: password, kSecImportToMemoryOnly as String: true,
      ]
      var items: CFArray?
      let status = SecPKCS12Import(data as CFData, options as CFDictionary, &items)
      guard status == errSecSuccess else {
        throw error(
          "the PKCS#12 data of TLSOptions.identity can't be imported: \(text(status)); check the data and its password")
      }
      guard let item = (items as? [[String: Any]])?.first(where: { $0[kSecImportItemIdentity as String] != nil }),
        let value = item[kSecImportItemIdentity as String], CFGetTypeID(value as CFTypeRef) == SecIdentityGetTypeID()
      else {
        throw error("the PKCS#12 data of TLSOptions.identity does not contain a certificate with its private key")
      }
      let chain = item[kSecImportItemCertChain as String] as? [SecCertificate] ?? []
      // The first certificate is that of the identity.
      return URLCredential(
        identity: value as! SecIdentity, certificates: Array(chain.dropFirst()), persistence: .forSession)
    }

    private static func text(_ status: OSStatus) -> String {
      let text = SecCopyErrorMessageString(status, nil) as String?
      return text.map { "\($0) (OSStatus \(status))" } ?? "OSStatus \(status)"
    }

    private static func error(_ reason: String) -> NetworkError { NetworkError(kind: .tls, reason: reason) }
  }
#endif

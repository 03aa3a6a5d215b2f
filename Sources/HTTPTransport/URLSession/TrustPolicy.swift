#if HAS_URLSESSION
  import Foundation

  /// The decision whether to trust a server, from the certificates of its verified chain and `TLSOptions`.
  ///
  /// The system verifies signatures, validity and the host name. This policy adds the conditions of the settings, and
  /// never accepts what the system rejects.
  struct TrustPolicy: Sendable {
    /// The only CAs to trust; `nil` for the system's.
    let authorities: [Certificate]?
    /// The pins by normalized host.
    let pins: [String: [PublicKeyPin]]

    /// Creates the policy of `options`.
    ///
    /// - Throws: `NetworkError` of kind `tls` if a pin is invalid, or the CAs can't be read.
    init(_ options: TLSOptions) throws(NetworkError) {
      if let failure = options.failure { throw failure }
      pins = options.pinsByHost
      switch options.trust.kind {
      case .system: authorities = nil
      case .file(let file):
        guard let text = try? Data(contentsOf: file) else {
          throw Self.error("the CA file \(file.path) can't be read; set an existing PEM file in TLSOptions.trust")
        }
        authorities = try Self.authorities(text, "the CA file \(file.path)")
      case .pem(let text): authorities = try Self.authorities(text, "the PEM text of TLSOptions.trust")
      }
    }

    private static func authorities(_ text: Data, _ place: String) throws(NetworkError) -> [Certificate] {
      guard let certificates = Certificate.pem(text) else {
        throw error("\(place) contains an invalid certificate; use certificates in PEM format")
      }
      // Without a CA, the system's would apply.
      guard !certificates.isEmpty else {
        throw error("\(place) does not contain a certificate; use certificates in PEM format")
      }
      return certificates
    }

    /// Returns whether the settings add conditions for `host`, so that the system's decision is not enough.
    func restricts(_ host: String) -> Bool { authorities != nil || pins[host] != nil }

    /// Returns the error for a server that must not be trusted; `nil` if it is trusted.
    ///
    /// - Parameters:
    ///   - chain: The certificates that the system has verified, from the server's own to the CA.
    ///   - rejection: The reason for which the system rejects the certificates; `nil` if it accepts them. It considers
    ///     `authorities`.
    func failure(of host: String, chain: [Certificate], rejection: String?) -> NetworkError? {
      if let rejection {
        return Self.error(
          ConnectionProblem.ofCertificate(rejection).reason(ConnectionSides(server: host), rejection))
      }
      if let authorities, !chain.contains(where: authorities.contains) {
        return Self.error(
          "the certificate of \(host) was not issued by a CA of TLSOptions.trust; check the server, or add its CA")
      }
      guard let pins = pins[host] else { return nil }
      guard !chain.contains(where: { pins.contains($0.pin) }) else { return nil }
      let keys = chain.map(\.pin.description).joined(separator: ", ")
      return Self.error(
        "no key of \(host) matches its pins in TLSOptions.pins; the server's chain has \(keys.isEmpty ? "no key" : keys)"
          + "; if the server has a new key, add its pin")
    }

    private static func error(_ reason: String) -> NetworkError { NetworkError(kind: .tls, reason: reason) }
  }
#endif

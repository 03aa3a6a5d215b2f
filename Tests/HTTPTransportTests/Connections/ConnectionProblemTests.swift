import Foundation
import TestSupport
import XCTest

@testable import HTTPTransport

/// The table of what can fail in a connection: each failure names its side, and a remedy that can work.
final class ConnectionProblemTests: XCTestCase {
  private let direct = ConnectionSides(server: "svc.test:443")
  private let proxied = ConnectionSides(
    server: "svc.test:443", proxy: ("10.0.0.1:3128", "the variable http_proxy"), isProxys: true)

  private static let rows: [(ConnectionProblem, kind: NetworkError.Kind, direct: String, proxys: String)] = [
    (.unknownHost, .unknownHost, "check its spelling and the network", "check the variable http_proxy and the network"),
    (.refused, .connection, "a server is listening there", "check the variable http_proxy, and that a proxy is"),
    (.quicRefused, .connection, "HTTPVersion.automatic", "HTTPVersion.automatic"),
    (.lost, .connection, "try again", "try again, or check the variable http_proxy"),
    (.closed, .connection, "try again", "try again, or check the variable http_proxy"),
    (.gone, .timeout, "try again, or check the network", "try again, or check the network"),
    (.notHTTP, .parse, "check the port", "check the scheme and the port of the variable http_proxy"),
    (.notTLS, .tls, "or an http URL", "use the scheme http, or another port, in the variable http_proxy"),
    (.closedInHandshake, .connection, "the port uses TLS", "the port uses TLS"),
    (.handshake, .tls, "the TLS settings of the server", "the TLS settings of the proxy"),
    (.oldTLS, .tls, "no TLS version from 1.2 on; update its TLS", "no TLS version from 1.2 on; update its TLS"),
    (.alert, .tls, "the TLS settings of the server", "the TLS settings of the proxy"),
    (.refusedHandshake, .tls, "may require a client certificate (TLSOptions.identity)", "none of the ciphers"),
    (.expiredCertificate, .tls, "the clock of this device", "the clock of this device"),
    (.earlyCertificate, .tls, "check the clock of this device", "check the clock of this device"),
    (.otherName, .tls, "check the host of the URL", "check the host of the variable http_proxy"),
    (.untrustedCertificate, .tls, "TLSOptions.trust", "TLSOptions.trust"),
    (.invalidCertificate, .tls, "the certificate of the server", "the certificate of the proxy"),
    (.otherKey, .tls, "update TLSOptions.pins", "may be intercepted"),
    (.identityRequired, .tls, "set one in TLSOptions.identity", "TLSOptions.identity"),
    (.identityRefused, .tls, "replace the one in TLSOptions.identity", "TLSOptions.identity"),
    (.unusableIdentity, .tls, "the password of TLSOptions.identity", "TLSOptions.identity"),
    (.unreadableTrust, .tls, "check TLSOptions.trust", "ca-certificates"),
    (.proxyCredentials, .connection, "only Basic", "correct them in the variable http_proxy; only Basic"),
    (.tunnelForbidden, .connection, "whether the proxy allows", "whether the proxy allows this host and port"),
    (.tunnelFailed, .connection, "try again", "try again, or check the server and the proxy"),
    (.tunnelTooLarge, .parse, "is too large", "is too large; check the variable http_proxy"),
    (.proxyRejected, .connection, "whether the proxy allows", "check the variable http_proxy, and whether"),
  ]

  func test_eachFailureNamesItsSideAndARemedy() {
    XCTAssertEqual(Set(Self.rows.map(\.0)), Set(ConnectionProblem.allCases))
    for (problem, kind, remedy, proxys) in Self.rows {
      XCTAssertEqual(problem.kind, kind, "\(problem)")
      let reason = problem.reason(direct, "CAUSE")
      XCTAssert(reason.contains(problem == .unknownHost ? "svc.test can't" : "svc.test:443"), reason)
      XCTAssert(reason.contains(": CAUSE; "), reason)
      XCTAssert(problem.reason(direct).contains(remedy), reason)
      XCTAssertFalse(reason.contains("10.0.0.1"), reason)
      let other = problem.reason(proxied)
      XCTAssert(other.contains("svc.test:443") || problem == .unknownHost, other)
      let isServers: [ConnectionProblem] = [.quicRefused, .unusableIdentity, .unreadableTrust]
      XCTAssertEqual(other.contains("the proxy 10.0.0.1:3128"), !isServers.contains(problem), other)
      XCTAssert(other.contains(proxys), other)
    }
    XCTAssertFalse(ConnectionProblem.otherKey.reason(direct).contains("trust"), "advice for an attacker")
  }

  func test_theRemedyFitsTheSettings() {
    var sides = direct
    sides.minVersion = .v1_3
    XCTAssert(
      ConnectionProblem.oldTLS.reason(sides).contains("from 1.3 on; update its TLS, or lower TLSOptions.minVersion"))
    sides.hasIdentity = true
    XCTAssert(ConnectionProblem.refusedHandshake.reason(sides).contains("the certificate of TLSOptions.identity"))
    sides.mayMissCertificate = true
    XCTAssert(ConnectionProblem.lost.reason(sides).contains("try again, or set TLSOptions.identity if"))
    sides.proxy = ("10.0.0.1:3128", "Configuration.proxy")
    XCTAssert(
      ConnectionProblem.closedInHandshake.reason(sides).hasPrefix("the proxy 10.0.0.1:3128 or svc.test:443 closed"))
  }

  /// The alerts of TLS, by number: without a client certificate, and with one.
  private static let alerts: [(UInt8?, ConnectionProblem?, ConnectionProblem?)] = [
    (0, nil, nil), (10, .alert, .alert), (20, .alert, .alert), (22, .alert, .alert),
    (40, .refusedHandshake, .refusedHandshake), (41, .identityRequired, .identityRefused),
    (42, .identityRequired, .identityRefused), (43, .alert, .identityRefused), (44, .alert, .identityRefused),
    (45, .alert, .identityRefused), (46, .identityRequired, .identityRefused), (47, .alert, .alert),
    (48, .alert, .identityRefused), (49, .alert, .identityRefused), (50, .alert, .alert),
    (51, .alert, .identityRefused), (70, .oldTLS, .oldTLS), (71, .refusedHandshake, .refusedHandshake),
    (80, nil, nil), (86, .alert, .alert), (90, nil, nil), (109, .alert, .alert), (111, .alert, .identityRefused),
    (112, .alert, .alert), (113, .alert, .identityRefused), (114, .alert, .identityRefused), (115, .alert, .alert),
    (116, .identityRequired, .identityRefused), (120, .alert, .alert), (nil, .identityRequired, .identityRefused),
  ]

  func test_alerts() {
    for (number, without, with) in Self.alerts {
      let alert = TLSAlert(number: number)
      XCTAssertEqual(alert.problem(hasIdentity: false), without, "\(number as Any)")
      XCTAssertEqual(alert.problem(hasIdentity: true), with, "\(number as Any)")
    }
  }

  func test_theNumberOfAnAlertIsReadFromTheTextOfItsLibrary() {
    for (text, alert) in [
      ("OpenSSL SSL_read: OpenSSL/3.0.19: error:0A000415:SSL routines::sslv3 alert certificate expired, errno 0", 45),
      ("error:14094415:SSL routines:ssl3_read_bytes:sslv3 alert certificate expired", 45),
      ("error:0A0003E8:SSL routines::reason(1000)", 0), ("error:0A000438:SSL routines::tlsv1 alert internal error", 80),
      ("error:0A000458:SSL routines::tlsv1 unrecognized name", 112), ("SSL certificate verification failed", 45),
      ("error:0A00045C:SSL routines::tlsv13 alert certificate required", 116),
      // libcurl 8.14.
      ("TLS connect error: error:0A000413:SSL routines::sslv3 alert unsupported certificate", 43),
    ] as [(String, UInt8)] {
      XCTAssertEqual(TLSAlert(text), TLSAlert(number: alert), text)
    }
    XCTAssertEqual(
      TLSAlert("GnuTLS recv error (-12): A TLS fatal alert has been received."), TLSAlert(number: nil))
    for text in [
      "error:0A000086:SSL routines::certificate verify failed", "SSL certificate problem: certificate has expired",
      "Connection reset by peer", "error:0A00010B:SSL routines::wrong version number", "error:", "error:0A0004E8:x",
    ] {
      XCTAssertNil(TLSAlert(text), text)
    }
  }

  func test_theProblemOfACertificateIsReadFromTheTextOfItsLibrary() {
    for (text, problem) in [
      ("SSL certificate problem: certificate has expired", .expiredCertificate),
      ("server certificate expiration date has passed.", .expiredCertificate),
      ("SSL certificate problem: certificate is not yet valid", .earlyCertificate),
      ("server certificate not activated yet.", .earlyCertificate),
      ("SSL: no alternative certificate subject name matches target host name 'h'", .otherName),
      ("SSL: certificate subject name (a) does not match target host name 'b'", .otherName),
      ("SSL certificate problem: Hostname mismatch", .otherName),
      ("SSL certificate problem: self-signed certificate", .untrustedCertificate),
      ("SSL certificate problem: self signed certificate in certificate chain", .untrustedCertificate),
      ("SSL certificate problem: unable to get local issuer certificate", .untrustedCertificate),
      ("server certificate verification failed. CAfile: none CRLfile: none", .untrustedCertificate),
      ("SSL certificate problem: EE certificate key too weak", .invalidCertificate),
      ("SSL certificate problem: unsuitable certificate purpose", .invalidCertificate),
    ] as [(String, ConnectionProblem)] {
      XCTAssertEqual(ConnectionProblem.ofCertificate(text), problem, text)
    }
  }

  /// No other file writes a text of the table.
  func test_theTextsAreInOnePlace() throws {
    let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Sources").standardized
    let files = try XCTUnwrap(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
    let texts = [
      "can't be resolved", "check that a server is listening", "was lost before the response was",
      "closed the connection without a response",
      "did not respond with HTTP\"", "did not respond with TLS\"", "during the TLS handshake", "the TLS handshake with",
      "requires a client certificate", "set TLSOptions.identity", "or trust its CA", "responded to CONNECT to",
      "no longer responds on",
    ]
    for case let file as URL in files where file.pathExtension == "swift" {
      guard file.lastPathComponent != "ConnectionProblem.swift" else { continue }
      let text = try String(contentsOf: file, encoding: .utf8)
      let lines = text.split(separator: "\n").filter { !$0.contains("///") && !$0.contains("// ") }
      for part in texts where lines.contains(where: { $0.contains(part) && $0.contains("\"") }) {
        XCTFail("\(file.lastPathComponent): \(part)")
      }
    }
  }
}

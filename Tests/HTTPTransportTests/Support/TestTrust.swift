import Foundation
import HTTPTransport
import NetLayer
import XCTest

extension XCTestCase {
  /// Returns trust in a CA of the tests. The CAs of the machine may be missing, and a TLS handshake then does not begin.
  func makeTestTrust() throws -> TLSOptions.Trust {
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).pem")
    try Data(TestCertificates.authority.utf8).write(to: file)
    addTeardownBlock { try? FileManager.default.removeItem(at: file) }
    return .pem(file: file)
  }

  /// Returns the default transport of the platform, which on Linux trusts a CA of the tests.
  func makeTrustingTransport() throws -> any Transport {
    #if canImport(CLibcurl)
      try CurlTransport(.init(tls: .init(trust: makeTestTrust())))
    #else
      DefaultTransport.make()
    #endif
  }
}

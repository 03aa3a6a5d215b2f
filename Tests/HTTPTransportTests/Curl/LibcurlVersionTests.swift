#if canImport(CLibcurl)
  import Foundation
  import XCTest

  @testable import HTTPTransport
  import NetLayer

  extension CurlLibrary {
    /// Whether this libcurl accepts certificates from memory: 7.77 and later, except with GnuTLS.
    static var takesCertificatesFromMemory: Bool {
      isAtLeast(0x07_4d00) && capabilities?.tls?.hasPrefix("GnuTLS") == false
    }
  }

  /// Tests that this process has loaded the libcurl that `Tests/Interop/libcurl` names.
  final class LibcurlVersionTests: XCTestCase {
    func test_theExpectedLibraryIsLoaded() throws {
      let capabilities = try XCTUnwrap(CurlTransport.capabilities)
      print("libcurl: \(capabilities.version), \(capabilities.tls ?? "no TLS")")
      let environment = ProcessInfo.processInfo.environment
      guard let version = environment["INTEROP_LIBCURL"], !version.isEmpty else {
        throw XCTSkip("INTEROP_LIBCURL does not name a version; Tests/Interop/libcurl does")
      }
      XCTAssertEqual(capabilities.version, version)
      let tls = try XCTUnwrap(capabilities.tls)
      let library = environment["INTEROP_TLS_LIBRARY"].flatMap { $0.isEmpty ? nil : $0 } ?? "OpenSSL"
      XCTAssertTrue(tls.hasPrefix(library), "\(tls) is not \(library)")
    }
  }
#endif

import Foundation
import NetLayer
import Streams
import TestSupport
import XCTest

@testable import HTTPTransport

/// A certificate belongs to its host: trust, expiry, name, pins, versions and client certificates, with servers that the test starts.
///
/// The tests need openssl and python3. `.ci/run` fails if one of them is skipped.
final class HostCertificateTests: HostileServerTestCase {
  /// Servers that a client must refuse, and one that it must not.
  private static let refused = ["expired", "wrong-host", "untrusted"]

  /// The requests that reached a server of this name.
  private func requests(_ name: String) async throws -> Int {
    let log = try await Network(Backend()).fetch(.get(server.url("log")), as: String.self)
    return log.split(separator: "\n").filter { $0 == "request \(name)" }.count
  }

  #if canImport(CLibcurl)
    private func network(_ change: (inout TLSOptions) throws -> Void = { _ in }) throws -> Network {
      var tls = TLSOptions(trust: .pem(file: server.file("ca.pem")))
      try change(&tls)
      return Network(Backend(transport: try CurlTransport(.init(tls: tls))))
    }

    /// Calls the server in every way, and returns the kinds of the errors; `nil` for a success.
    private func calls(_ name: String, _ network: Network) async throws -> [String: NetworkError.Kind?] {
      let url = try server.url(name)
      let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
      defer { try? FileManager.default.removeItem(at: file) }
      let socket = "wss://127.0.0.1:\(try server.port(name))/"
      let ways: [String: @Sendable () async throws -> Void] = [
        "fetch": { _ = try await network.fetch(.get(url)) },
        "post": { _ = try await network.fetch(.post(url, json: ["password": "s"])) },
        "stream": { _ = try await network.withStream(.get(url)) { try await $0.chunks.reduce(0) { $0 + $1.count } } },
        "download": { _ = try await network.fetch(Call(.get, url, task: .download(to: file))) },
        "webSocket": {
          let message = try await network.withWebSocket(.get(socket)) { socket in
            var messages = socket.messages.makeAsyncIterator()
            return try await messages.next()
          }
          XCTAssertEqual(message?.text, "ok")
        },
      ]
      var results: [String: NetworkError.Kind?] = [:]
      for (way, call) in ways {
        do {
          try await call()
          results[way] = .some(nil)
        } catch {
          results[way] = NetworkError.wrapping(error).kind
        }
      }
      return results
    }

    func test_everyWayOfCalling_checksTrust_expiryAndName() async throws {
      for (way, kind) in try await calls("trusted", network()) { XCTAssertNil(kind, "\(way): \(kind as Any)") }
      for name in Self.refused {
        let before = try await requests(name)
        for (way, kind) in try await calls(name, network()) { XCTAssertEqual(kind, .tls, "\(way) of \(name)") }
        let after = try await requests(name)
        XCTAssertEqual(after, before, "a request went to a server with the certificate \(name)")
      }
    }

    func test_theNameIsThatOfTheURL_alsoBehindAnAddressOverride() async throws {
      let port = try server.port("wrong-host")
      let tls = TLSOptions(trust: .pem(file: server.file("ca.pem")))
      let transport = try CurlTransport(
        .init(
          tls: tls,
          addresses: ["other.example": .host("127.0.0.1", port: port), "x.example": .host("127.0.0.1", port: port)]))
      let network = Network(Backend(transport: transport))
      let found = try await network.fetch(.get("https://other.example/"), as: String.self)
      XCTAssertEqual(found, "ok", "the certificate is that of other.example")
      do {
        _ = try await network.fetch(.get("https://x.example/"))
        XCTFail("the certificate is not that of x.example")
      } catch { XCTAssertEqual(NetworkError.wrapping(error).kind, .tls, "\(error)") }
    }

    func test_withoutTheCA_nothingIsTrusted() async throws {
      for trust in [TLSOptions.Trust.system, .pem(file: server.file("foreign.pem"))] {
        for (way, kind) in try await calls("trusted", network { $0.trust = trust }) { XCTAssertEqual(kind, .tls, way) }
      }
      // Its own certificate makes it trusted, but does not give it a name.
      let itself = server.file("foreign.pem")
      for (way, kind) in try await calls("untrusted", network { $0.trust = .pem(file: itself) }) {
        XCTAssertEqual(kind, .tls, way)
      }
    }

    func test_aPin_survivesTheRenewalOfItsCertificate_andNoOtherKey() async throws {
      let pin = try PublicKeyPin(self.pin("good.pem"))
      for name in ["trusted", "renewed"] {
        let kinds = try await calls(name, network { $0.pins = ["127.0.0.1": [pin]] })
        for (way, kind) in kinds { XCTAssertNil(kind, "\(way) of \(name): \(kind as Any)") }
      }
      let other = try PublicKeyPin(self.pin("other.pem"))
      for (way, kind) in try await calls("trusted", network { $0.pins = ["127.0.0.1": [other]] }) {
        XCTAssertEqual(kind, .tls, way)
      }
    }

    func test_theOldestVersionOfTLSIsEnforced() async throws {
      for (way, kind) in try await calls("tls-1.2", network()) { XCTAssertNil(kind, "\(way): \(kind as Any)") }
      for (way, kind) in try await calls("tls-1.2", network { $0.minVersion = .v1_3 }) {
        XCTAssertEqual(kind, .tls, way)
      }
    }

    func test_aClientCertificateIsShownToTheServer() async throws {
      let (certificate, key) = (server.file("good.pem"), server.file("good.key"))
      let response = try await network { $0.identity = .init(certificate: certificate, key: key) }
        .fetch(.get(server.url("client")))
      XCTAssertEqual(response.status, 200)
      do {
        _ = try await network().fetch(.get(server.url("client")))
        XCTFail("nothing was required")
      } catch { XCTAssertEqual(NetworkError.wrapping(error).kind, .tls, "\(error)") }
    }

    /// The pin of the key of a certificate, as the guide computes it.
    private func pin(_ name: String) throws -> String {
      let process = Process(), output = Pipe()
      process.executableURL = URL(filePath: "/bin/sh")
      process.arguments = [
        "-c",
        "openssl x509 -pubkey -noout -in \(server.file(name).path) | openssl pkey -pubin -outform der "
          + "| openssl dgst -sha256 -binary | base64",
      ]
      process.standardOutput = output
      try process.run()
      let data = output.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
  #endif

  #if HAS_URLSESSION
    /// URLSession trusts the CAs of the system, to which that of this test does not belong.
    func test_urlSession_trustsOnlyTheSystem() async throws {
      let network = Network(Backend(transport: URLSessionTransport()))
      for name in ["trusted", "renewed"] + Self.refused {
        let before = try await requests(name)
        do {
          _ = try await network.fetch(.get(server.url(name)))
          XCTFail(name)
        } catch {
          // FoundationNetworking reports an untrusted certificate as an unknown error.
          XCTAssertTrue([.tls, .connection].contains(NetworkError.wrapping(error).kind), "\(name): \(error)")
        }
        let after = try await requests(name)
        XCTAssertEqual(after, before, name)
      }
    }
  #endif
}

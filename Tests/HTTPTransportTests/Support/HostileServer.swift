import Foundation
import TestSupport
import XCTest

/// The servers of `Tests/Interop/hostile.py`, or of another script in that folder, with certificates that
/// the process has created.
final class HostileServer {
  let folder: URL
  private let ports: [String: Int]
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()

  /// The folder with the certificates of all servers. The process removes it at its end.
  private static let certificates = Result { try makeCertificates() }

  /// - Throws: `XCTSkip` if openssl, Python or a module that the script imports is missing.
  init(_ name: String = "hostile.py", python: String = "python3") throws {
    folder = try Self.certificates.get()
    let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Interop/\(name)")
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [python, script.standardizedFileURL.path, folder.path]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    var line = Data()
    while !line.contains(0x0a) {
      let more = output.fileHandleForReading.availableData
      guard !more.isEmpty else {
        throw XCTSkip("\(name) did not start: \(python) or a module that it imports is not installed")
      }
      line.append(more)
    }
    ports = try JSONDecoder().decode([String: Int].self, from: line)
  }

  func stop() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
    // Foundation on Linux never releases a process that has run, and thus not its pipe either.
    try? output.fileHandleForReading.close()
  }

  func file(_ name: String) -> URL { folder.appending(path: name) }

  func port(_ name: String) throws -> Int { try XCTUnwrap(ports[name], "there is no server \(name)") }

  func url(_ name: String) throws -> URL {
    let port = try port(name)
    return try XCTUnwrap(URL(string: "\(name == "log" ? "http" : "https")://127.0.0.1:\(port)/"))
  }

  private static func makeCertificates() throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appending(path: "hostile-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    let subject = "subjectAltName=IP:127.0.0.1,DNS:localhost"
    try run(
      ["openssl", "req", "-x509"] + key + [
        "-nodes", "-subj", "/CN=ca", "-days", "2", "-keyout", "ca.key", "-out", "ca.pem",
      ], in: folder)
    for name in ["good", "encrypted", "expired", "usage", "revoked", "other"] {
      let subject = name == "other" ? "subjectAltName=DNS:other.example" : subject
      let protection = name == "encrypted" ? ["-passout", "pass:secret"] : ["-nodes"]
      let usage = name == "usage" ? ["-addext", "extendedKeyUsage=serverAuth"] : []
      try run(
        ["openssl", "req", "-new"] + key + protection + [
          "-subj", "/CN=\(name)", "-addext", subject, "-keyout", "\(name).key", "-out", "\(name).csr",
        ] + usage, in: folder)
      func sign(_ dates: String...) throws {
        try run(
          [
            "openssl", "x509", "-req", "-in", "\(name).csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-set_serial",
            name == "revoked" ? "4660" : "\(UInt32.random(in: 10_000...(.max)))", "-copy_extensions", "copy", "-out",
            "\(name).pem",
          ] + dates, in: folder)
      }
      if name != "expired" {
        try sign("-days", "2")
      } else {
        // OpenSSL 3.6 refuses the first form, and versions before 3.4 the second one.
        do { try sign("-days", "-1") } catch {
          try sign("-not_before", "20200101000000Z", "-not_after", "20200102000000Z")
        }
      }
    }
    try run(
      ["openssl", "req", "-x509"] + key + [
        "-nodes", "-subj", "/CN=x", "-days", "2", "-keyout", "foreign.key", "-out", "foreign.pem",
      ],
      in: folder)
    // A renewed certificate of the same key.
    try run(
      [
        "openssl", "x509", "-req", "-in", "good.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-set_serial", "77", "-days",
        "2", "-copy_extensions", "copy", "-out", "renewed.pem",
      ], in: folder)
    // 0x1234 is 4660.
    for (name, text) in [
      ("index.txt", "R\t491231235959Z\t200101000000Z\t1234\tunknown\t/CN=revoked\n"),
      ("ca.cnf", "[ca]\ndefault_ca=d\n[d]\ndatabase=index.txt\ndefault_md=sha256\ndefault_crl_days=2\n"),
    ] {
      try Data(text.utf8).write(to: folder.appending(path: name))
    }
    try run(
      [
        "openssl", "ca", "-gencrl", "-config", "ca.cnf", "-keyfile", "ca.key", "-cert", "ca.pem", "-out", "revoked.crl",
      ],
      in: folder)
    atexit { if let folder = try? HostileServer.certificates.get() { try? FileManager.default.removeItem(at: folder) } }
    return folder
  }

  private static func run(_ command: [String], in folder: URL) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = command
    process.currentDirectoryURL = folder
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw XCTSkip("openssl 3 is not installed, or made no certificate: \(command.prefix(2).joined(separator: " "))")
    }
  }
}

/// Tests that share one server.
class HostileServerTestCase: XCTestCase {
  private nonisolated(unsafe) static var shared: HostileServer?
  private(set) var server: HostileServer!

  override func setUpWithError() throws {
    server = try Self.shared ?? HostileServer()
    Self.shared = server
  }

  override class func tearDown() {
    shared?.stop()
    shared = nil
  }
}

import Foundation
import XCTest

/// An nginx with one worker on 127.0.0.1, with its own folder and a log of its responses.
package final class NginxServer {
  package let url: URL
  package let folder: URL
  /// The URL of the server over TLS, with HTTP/2 and the certificate `certificate.pem` in the folder; `nil` unless requested.
  package private(set) var secureURL: URL?
  private let process = Process()

  /// Starts the server.
  ///
  /// - Parameters:
  ///   - server: The content of the `server` block.
  ///   - isCleartextHTTP2: `true` if `url` uses HTTP/2 without TLS instead of HTTP/1.1.
  /// - Throws: `XCTSkip` if nginx is not installed, or openssl for `isSecure`. The environment variable `NGINX` can contain
  ///   the path of nginx.
  package init(server: String, files: [String: Data], isSecure: Bool = false, isCleartextHTTP2: Bool = false) throws {
    let environment = ProcessInfo.processInfo.environment
    let places = (environment["PATH"] ?? "").split(separator: ":").map(String.init) + ["/usr/sbin", "/usr/local/sbin"]
    let candidates = [environment["NGINX"]].compactMap(\.self) + places.map { $0 + "/nginx" }
    guard let program = candidates.first(where: FileManager.default.isExecutableFile) else {
      throw XCTSkip("nginx is not installed; Tests/Interop/cache fetches it")
    }
    folder = URL(filePath: NSTemporaryDirectory()).appending(path: "nginx-\(UUID().uuidString)")
    let root = folder.appending(path: "root")
    // Readable for the worker, which drops its privileges if root starts nginx.
    try FileManager.default.createDirectory(
      at: root, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    for (name, data) in files { try data.write(to: root.appending(path: name)) }
    let port = try Self.freePort()
    url = try XCTUnwrap(URL(string: "http://127.0.0.1:\(port)"))
    let path = folder.path
    var secure = ""
    if isSecure {
      try Self.makeCertificate(in: path)
      let port = try Self.freePort()
      secureURL = URL(string: "https://127.0.0.1:\(port)")
      secure = "listen 127.0.0.1:\(port) ssl http2; ssl_certificate certificate.pem; ssl_certificate_key key.pem;"
    }
    let configuration = """
      daemon off; worker_processes 1; pid \(path)/nginx.pid; error_log \(path)/error.log;
      events { worker_connections 256; }
      http {
        client_body_temp_path \(path)/body; proxy_temp_path \(path)/proxy; fastcgi_temp_path \(path)/fastcgi;
        uwsgi_temp_path \(path)/uwsgi; scgi_temp_path \(path)/scgi;
        types { application/json json; }
        log_format line '$request_method $request_uri $status';
        access_log \(path)/access.log line;
        root \(path)/root;
        server { listen 127.0.0.1:\(port)\(isCleartextHTTP2 ? " http2" : ""); \(secure) \(server) }
      }
      """
    try configuration.write(to: folder.appending(path: "nginx.conf"), atomically: true, encoding: .utf8)
    process.executableURL = URL(filePath: program)
    process.arguments = ["-e", path + "/error.log", "-p", path, "-c", path + "/nginx.conf"]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    for _ in 0..<250 where process.isRunning {
      if Self.connect(port) { return }
      usleep(20_000)
    }
    let log = try? String(contentsOf: folder.appending(path: "error.log"), encoding: .utf8)
    stop()
    throw XCTSkip("nginx did not start: \(log ?? "it wrote no log")")
  }

  /// Waits for `count` requests, and returns a line `METHOD /uri status` for each.
  package func log(count: Int) throws -> [String] {
    var lines: [String] = []
    for _ in 0..<500 {
      lines = try String(contentsOf: folder.appending(path: "access.log"), encoding: .utf8)
        .split(separator: "\n").map(String.init)
      if lines.count >= count { break }
      usleep(10_000)
    }
    return lines
  }

  package func write(_ text: String, to name: String, daysAgo: Double = 0) throws {
    let file = folder.appending(path: "root").appending(path: name)
    try Data(text.utf8).write(to: file)
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -86400 * daysAgo)], ofItemAtPath: file.path)
  }

  package func stop() {
    if process.isRunning {
      process.terminate()
      process.waitUntilExit()
    }
    try? FileManager.default.removeItem(at: folder)
  }

  private static func makeCertificate(in folder: String) throws {
    let openssl = Process()
    openssl.executableURL = URL(filePath: "/usr/bin/openssl")
    let request = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1"
    openssl.arguments =
      request.split(separator: " ").map(String.init)
      + ["-keyout", folder + "/key.pem", "-out", folder + "/certificate.pem"]
    openssl.standardError = FileHandle.nullDevice
    do { try openssl.run() } catch { throw XCTSkip("openssl is not installed, so there is no certificate") }
    openssl.waitUntilExit()
    guard openssl.terminationStatus == 0 else { throw XCTSkip("openssl made no certificate") }
  }

  private static func freePort() throws -> UInt16 {
    try withWebSocket { file, address in
      address.sin_port = 0
      guard onAddress(&address, { bind(file, $0, $1) }) == 0 else { throw POSIXError(.EADDRINUSE) }
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let result = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(file, $0, &size) }
      }
      guard result == 0 else { throw POSIXError(.EIO) }
      return UInt16(bigEndian: address.sin_port)
    }
  }

  private static func connect(_ port: UInt16) -> Bool {
    (try? withWebSocket { file, address in
      address.sin_port = port.bigEndian
      return onAddress(&address) { Foundation.connect(file, $0, $1) } == 0
    }) ?? false
  }

  private static func onAddress(
    _ address: inout sockaddr_in, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    }
  }

  private static func withWebSocket<Result>(_ body: (Int32, inout sockaddr_in) throws -> Result) throws -> Result {
    #if canImport(Darwin)
      let file = socket(AF_INET, SOCK_STREAM, 0)
    #else
      let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #endif
    guard file >= 0 else { throw POSIXError(.EMFILE) }
    defer { close(file) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return try body(file, &address)
  }
}

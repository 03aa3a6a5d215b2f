import Foundation

/// The server for the measurements: one nginx worker on 127.0.0.1, which keeps connections forever and logs nothing.
final class Nginx {
  let url: URL
  /// The same server over TLS, with HTTP/2; `nil` if no certificate could be created.
  private(set) var secureURL: URL?
  /// The certificate of `secureURL`, which is self-signed.
  private(set) var certificate: URL?
  private let process = Process()
  /// The process IDs of nginx.
  var processes: [pid_t] {
    let children = try? String(
      contentsOfFile: "/proc/\(process.processIdentifier)/task/\(process.processIdentifier)/children", encoding: .utf8)
    return [process.processIdentifier] + (children ?? "").split(separator: " ").compactMap { pid_t($0) }
  }
  private let folder: URL

  /// Starts nginx. Returns `nil` if that fails, and writes the reason to standard error.
  init?(serving files: [String: Data]) {
    let places = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    guard
      let program = (places + ["/usr/sbin", "/usr/local/sbin"]).map({ $0 + "/nginx" })
        .first(where: FileManager.default.isExecutableFile)
    else {
      Self.complain("nginx is not installed (Debian: apt-get install nginx)")
      return nil
    }
    folder = URL(filePath: NSTemporaryDirectory()).appending(path: "network-benchmarks-\(getpid())")
    do {
      // Readable for the worker, which drops its privileges if root starts nginx.
      try FileManager.default.createDirectory(
        at: folder.appending(path: "root"), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
      for (name, data) in files { try data.write(to: folder.appending(path: "root/\(name)")) }
    } catch {
      Self.complain("cannot write \(folder.path): \(error)")
      return nil
    }
    // Another process may take the free port before nginx does. That is rare, and nginx then reports it.
    guard let port = Loopback.freePort() else {
      Self.complain("no free port on 127.0.0.1")
      return nil
    }
    url = URL(string: "http://127.0.0.1:\(port)") ?? folder
    let configuration = folder.appending(path: "nginx.conf")
    do {
      if let securePort = Loopback.freePort(), Self.makeCertificate(in: folder.path) {
        secureURL = URL(string: "https://127.0.0.1:\(securePort)")
        certificate = folder.appending(path: "certificate.pem")
      }
      try Self.configuration(folder.path, port, secureURL?.port).write(
        to: configuration, atomically: true, encoding: .utf8)
      process.executableURL = URL(filePath: program)
      process.arguments = ["-e", folder.path + "/error.log", "-p", folder.path, "-c", configuration.path]
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      try process.run()
    } catch {
      Self.complain("cannot start \(program): \(error)")
      return nil
    }
    running = process.processIdentifier
    // Without this handler, an interrupted benchmark would leave nginx running.
    for number in [SIGINT, SIGTERM] {
      signal(number) { _ in
        if running > 0 { kill(running, SIGTERM) }
        _exit(130)
      }
    }
    for _ in 0..<200 where process.isRunning {
      if Loopback.accepts(port) { return }
      usleep(20_000)
    }
    let log = try? String(contentsOf: folder.appending(path: "error.log"), encoding: .utf8)
    Self.complain("nginx did not start: \(log ?? "it wrote no log")")
    stop()
    return nil
  }

  /// Adds a sparse file of `size` zeros to the served files, and returns `false` if that fails.
  func addSparseFile(_ name: String, size: Int) -> Bool {
    let file = folder.appending(path: "root/\(name)")
    return FileManager.default.createFile(atPath: file.path, contents: nil) && truncate(file.path, off_t(size)) == 0
  }

  func stop() {
    if process.isRunning {
      process.terminate()
      process.waitUntilExit()
    }
    running = 0
    try? FileManager.default.removeItem(at: folder)
  }

  private static func complain(_ reason: String) {
    FileHandle.standardError.write(Data("skipped, the server is not available: \(reason)\n".utf8))
  }

  /// Returns `false` if openssl is missing.
  private static func makeCertificate(in folder: String) -> Bool {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/openssl")
    process.arguments =
      "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1".split(
        separator: " "
      ).map(String.init) + ["-keyout", folder + "/key.pem", "-out", folder + "/certificate.pem"]
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }

  private static func configuration(_ folder: String, _ port: UInt16, _ securePort: Int?) -> String {
    let secure = securePort.map {
      """
      server {
          listen 127.0.0.1:\($0) ssl http2 backlog=4096;
          ssl_certificate \(folder)/certificate.pem;
          ssl_certificate_key \(folder)/key.pem;
          ssl_protocols TLSv1.2 TLSv1.3;
          ssl_session_cache shared:sessions:1m;
          add_header X-Connection $connection;
        }
      """
    }
    return """
      daemon off;
      worker_processes 1;
      pid \(folder)/nginx.pid;
      error_log \(folder)/error.log;
      events { worker_connections 8192; }
      http {
        client_body_temp_path \(folder)/body;
        proxy_temp_path \(folder)/proxy;
        fastcgi_temp_path \(folder)/fastcgi;
        uwsgi_temp_path \(folder)/uwsgi;
        scgi_temp_path \(folder)/scgi;
        types { application/json json; }
        root \(folder)/root;
        access_log off;
        keepalive_timeout 3600;
        keepalive_requests 1000000000;
        open_file_cache max=16;
        server { listen 127.0.0.1:\(port) backlog=4096; }
        \(secure ?? "")
      }
      """
  }
}

/// The process ID of nginx, for the signal handler, which can access only globals.
nonisolated(unsafe) private var running: pid_t = 0

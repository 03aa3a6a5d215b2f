import PortableFoundation

/// A redirect URI on this machine (RFC 8252 §7.3).
struct LoopbackAddress {
  /// The fixed port; `nil` for a free one.
  let port: UInt16?
  private let host: Substring
  private let path: Substring

  /// Reads a redirect URI.
  ///
  /// - Throws: Kind `invalidRequest` for anything but `http`, a loopback host, a port and a path.
  init(_ redirect: String) throws(NetworkError) {
    let parts = redirect.wholeMatch(of: /http:\/\/(127\.0\.0\.1|localhost)(?::([0-9]+))?(\/[!-~]*)?/)?.output
    let (port, path) = (parts?.2.map { UInt16($0) ?? 0 }, parts?.3 ?? "")
    guard let parts, port != 0, !path.contains(where: { "?#\\".contains($0) }) else {
      let form =
        "http://127.0.0.1 or http://localhost, with a port from 1 to 65535 or without, and a path without a query"
      throw .misuse("the redirect URI \(redirect.debugDescription) must be \(form)")
    }
    (self.port, host, self.path) = (port, parts.1, path)
  }

  /// Returns the redirect URI with the port that is in use.
  func uri(port: UInt16) -> String { "http://\(host):\(port)\(path)" }

  /// Returns the URL of a GET request with one `Host`, which a web page can't choose (DNS rebinding); `nil` for anything else.
  static func url(ofRequest head: some Collection<UInt8>) -> String? {
    guard let text = String(validating: head, as: UTF8.self) else { return nil }
    let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
    let hosts = lines.dropFirst().filter { $0.prefix(5).lowercased() == "host:" }
    let words = lines[0].split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 3, hosts.count == 1, words[0] == "GET", words[1].hasPrefix("/") else { return nil }
    let host = hosts[0].dropFirst(5).trimmingBlanks
    guard words[2].hasPrefix("HTTP/1."), !host.contains(where: { "/?#@".contains($0) }) else { return nil }
    return "http://\(host)\(words[1])"
  }
}

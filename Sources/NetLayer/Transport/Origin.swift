import Foundation

/// Scheme, host and port of a URL (RFC 6454 §4): what is secret with one origin goes to no other, and limits and budgets
/// are counted by it.
///
/// Case makes no difference, nor does the dot that may end a name, nor a port that is the scheme's own.
struct Origin: Hashable, Sendable {
  /// In lower case.
  let scheme: String
  /// In lower case, without the dot at its end.
  let host: String
  let port: Int

  /// The origin of `url`; of one without a host, all that is alike is its scheme.
  init(_ url: URL) {
    scheme = url.scheme?.lowercased() ?? ""
    host = url.plainHost ?? ""
    port = url.portInUse
  }
}

extension URL {
  /// The host in lower case, without the dot that may end a name: two spellings of one host are the same here.
  var plainHost: String? {
    guard let host = host?.lowercased() else { return nil }
    return host.hasSuffix(".") ? String(host.dropLast()) : host
  }

  /// Host and port as errors name them: the port is given even where the URL leaves it to the scheme.
  var hostAndPort: String {
    guard let host else { return absoluteString }
    let name = host.contains(":") ? "[\(host)]" : host
    return "\(name):\(portInUse)"
  }

  fileprivate var portInUse: Int { port ?? (scheme?.lowercased() == "https" ? 443 : 80) }
}

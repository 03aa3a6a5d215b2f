import Foundation

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
    return "\(name):\(port ?? (scheme?.lowercased() == "https" ? 443 : 80))"
  }
}

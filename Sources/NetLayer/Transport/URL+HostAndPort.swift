import Foundation

extension URL {
  /// Host and port as errors name them: the port is given even where the URL leaves it to the scheme.
  var hostAndPort: String {
    guard let host else { return absoluteString }
    let name = host.contains(":") ? "[\(host)]" : host
    return "\(name):\(port ?? (scheme?.lowercased() == "https" ? 443 : 80))"
  }
}

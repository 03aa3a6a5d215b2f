import PortableFoundation

/// The one spelling in which hosts are compared, for settings that apply to a host.
enum HostSpelling {
  static func host(of url: URL) -> String? { url.plainHost.map(oneSpelling) }

  /// Normalizes an address, because the resolver accepts many spellings: `127.1`, `0x7f.1` and `2130706433` of IPv4,
  /// `0::1` and `::1%lo` of IPv6. The mapped address `::ffff:127.0.0.1` is the IPv4 address.
  private static func oneSpelling(_ host: String) -> String {
    var four = in_addr()
    if host.utf8.first?.isDigit == true, inet_aton(host, &four) != 0 {
      return withUnsafeBytes(of: four, dotted)
    }
    var six = in6_addr()
    guard inet_pton(AF_INET6, String(host.prefix { $0 != "%" }), &six) == 1 else { return host }
    return withUnsafeBytes(of: six) { bytes in
      let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
      if isMapped { return dotted(UnsafeRawBufferPointer(rebasing: bytes[12...])) }
      return stride(from: 0, to: 16, by: 2).map { String(Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]), radix: 16) }
        .joined(separator: ":")
    }
  }

  private static func dotted(_ bytes: UnsafeRawBufferPointer) -> String {
    bytes.map(String.init).joined(separator: ".")
  }

  /// Returns the normalized host; `nil` if `host` is not just a host.
  static func normalized(_ host: String) -> String? {
    guard !host.contains(where: { "/*@?#% ".contains($0) }) else { return nil }
    let lacksBrackets = !host.hasPrefix("[") && host.utf8.filter { $0 == 0x3a }.count > 1
    guard let url = URL(text: "https://\(lacksBrackets ? "[\(host)]" : host)/"), url.port == nil else { return nil }
    return Self.host(of: url).unlessEmpty
  }
}

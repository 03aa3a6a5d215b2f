import Foundation

@testable import HTTPTransport
@testable import NetLayer

private let now = Date(timeIntervalSinceReferenceDate: 800_000_000)

/// Returns the parts of the input between bytes 0xFF, as text.
private func parts(_ data: Data, _ count: Int) -> [String]? {
  let parts = data.split(separator: 0xFF, maxSplits: count - 1, omittingEmptySubsequences: false)
  return parts.count == count ? parts.map { String(decoding: $0, as: UTF8.self) } : nil
}

private func hasControls(_ text: String) -> Bool { text.utf8.contains { $0 < 0x20 || $0 == 0x7F } }

/// Stores two cookies of one URL, and reads the field for another. The field has no controls, and belongs to the domain.
func fuzzCookies(_ data: Data) {
  guard let parts = parts(data, 4), let from = URL(string: "https://\(parts[0])"), let to = URL(string: parts[1]) else {
    return
  }
  let jar = CookieJar()
  jar.store(
    HTTPHeaders([.init(name: "Set-Cookie", value: parts[2]), .init(name: "Set-Cookie", value: parts[3])]), from: from,
    at: now)
  for cookie in jar.cookies {
    let host = from.plainHost ?? ""
    let isOwn = host == cookie.domain || host.hasSuffix("." + cookie.domain)
    check(isOwn, "\(host) has set a cookie of \(cookie.domain)")
    check(!hasControls(cookie.name + cookie.value), "a cookie with controls")
  }
  guard let field = jar.header(for: to, at: now) else { return }
  check(!hasControls(field) && field.utf8.count <= 17_000, "a field of \(field.utf8.count) bytes")
}

/// Reads `Link` fields. The URLs are absolute, and relations are in lowercase.
func fuzzLinks(_ data: Data) {
  guard let url = URL(string: "https://h/a/b?c") else { return }
  let response = Response(request: Request(url: url), headers: ["Link": String(decoding: data, as: UTF8.self)])
  for (relation, link) in response.links {
    check(link.scheme != nil && !hasControls(link.absoluteString), "no URL: \(link)")
    check(relation == relation.lowercased() && !relation.contains(" "), "no relation: \(relation)")
  }
}

/// Redacts arbitrary bytes and texts. The result has no control characters if the text has none.
func fuzzSecrets(_ data: Data) {
  _ = Redaction.standard.bytes(data)
  let hidden = Redaction.standard.redacted(String(decoding: data, as: UTF8.self).escapingControls())
  check(!hidden.unicodeScalars.contains { $0.isControl }, "a control character in \(hidden.debugDescription)")
}

/// Reads a `Content-Range`. Its parts are in order, and written again, they are the same.
func fuzzRanges(_ data: Data) {
  guard let range = ContentRange(String(decoding: data, as: UTF8.self)) else { return }
  let total = range.total.map(String.init) ?? "*"
  guard let first = range.first, let last = range.last else {
    return check(ContentRange("bytes */\(total)") == range, "another range")
  }
  check(0 <= first && first <= last && last < range.total ?? .max, "a range out of order: \(range)")
  check(ContentRange("bytes \(first)-\(last)/\(total)") == range, "another range")
}

/// Reads dates, delays, directives and ages. A date, written again, is the same; delays and ages are not negative.
func fuzzDates(_ data: Data) {
  let text = String(decoding: data, as: UTF8.self)
  let clock = now.timeIntervalSinceReferenceDate
  if let seconds = HTTPDate.seconds(text, now: clock) {
    var time = time_t(seconds + Date.timeIntervalBetween1970AndReferenceDate)
    var parts = tm()
    var buffer = [CChar](repeating: 0, count: 64)
    gmtime_r(&time, &parts)
    let count = strftime(&buffer, buffer.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
    // Years below 1000 have fewer digits than the format wants.
    let written = String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    check(parts.tm_year < -900 || HTTPDate.seconds(written, now: clock) == seconds, "\(text) is not \(written)")
  }
  let fields: HTTPHeaders = [
    "Retry-After": text, "Cache-Control": text, "Age": text, "Date": text, "Expires": text, "Vary": text,
  ]
  if let after = RetryAfter(fields, now: now) { check(after.pause >= .zero, "a negative delay") }
  let control = CacheControl(fields)
  for name in ["max-age", "max-stale"] { check(control.seconds(name) ?? 0 >= 0, "a negative age") }
  _ = CookieDate.parse(text)
}

/// Reads the lines of a head. At most 500 fields arrive, without line breaks.
func fuzzHeads(_ data: Data) {
  var response = CurlResponse(maxBodySize: 1 << 20)
  for line in data.split(separator: 0x0A, omittingEmptySubsequences: false) {
    let isTaken = (Array(line) + [0x0A]).withUnsafeBufferPointer { response.headerLine($0) }
    guard isTaken else { break }
  }
  let fields = Array(response.headers) + Array(response.trailers)
  check(fields.count <= 500, "\(fields.count) fields")
  for field in fields {
    check(!field.value.utf8.contains { $0 == 0 || $0 == 0x0A || $0 == 0x0D }, "a line break in \(field)")
  }
}

/// Decodes a coded body, complete and in chunks. The contents are equal, and a turn has a limited amount of work.
///
/// The first byte chooses the codings, the second the size of the chunks.
func fuzzCodings(_ data: Data) {
  guard data.count > 2 else { return }
  let names = ["gzip", "deflate", "br", "zstd", "gzip, deflate", "br, gzip", "zstd, zstd", "deflate, br"]
  let coding = names[Int(data[data.startIndex]) % names.count]
  let size = Int(data[data.startIndex + 1]) + 1
  let bytes = [UInt8](data.dropFirst(2))
  let whole = decoded([bytes], coding)
  let fragments = stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) }
  check(whole == decoded(fragments, coding), "in pieces of \(size) bytes, \(coding) has other content")
}

/// The decoded bytes; `nil` for an error, and for a body whose limit is exceeded.
private func decoded(_ fragments: [[UInt8]], _ coding: String) -> [UInt8]? {
  guard let decoder = try? ContentDecoder(coding) else { return nil }
  var content: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 1 << 14)
  for fragment in fragments {
    fragment.withUnsafeBytes { bytes in bytes.baseAddress.map { decoder.feed($0, bytes.count) } }
    var (turns, produced) = (0, 0)
    reading: while content.count <= 1 << 20 {
      switch chunk.withUnsafeMutableBytes({ decoder.decode(into: $0) }) {
      case .bytes(let count):
        content += chunk[..<count]
        produced += count
        check(produced <= 1 << 19, "a turn without end")
      case .needsInput: break reading
      case .failure: return nil
      case .turnIsOver:
        turns += 1
        produced = 0
        check(turns < 10_000, "turns without end")
        decoder.beginTurn()
      }
    }
  }
  return content.count > 1 << 20 || !decoder.isAtEnd ? nil : content
}

/// Reads a URL as the target of a redirect and of a WebSocket. No part of a head contains controls, and the spellings of a
/// host for pins lead to the same one.
func fuzzAddresses(_ data: Data) {
  let text = String(decoding: data, as: UTF8.self)
  guard let base = URL(string: "https://h/"), let url = URL(string: text, relativeTo: base)?.absoluteURL else { return }
  let request = Request(url: url)
  guard RequestCheck.failure(of: request, url: url.absoluteString) == nil else { return }
  check(!hasControls(url.hostAndPort), "controls in \(url.hostAndPort.debugDescription)")
  // The text of an origin has a zone without its escape.
  let origin = Origin(url)
  check(
    origin.text.contains("%") || Origin(URL(string: origin.text + "/") ?? base) == origin,
    "\(origin) is not its own origin")
  // A host that can't be the key of a pin has no spelling for pins.
  if let host = HostSpelling.host(of: url), let spelling = HostSpelling.normalized(host) {
    check(spelling == host, "\(host) has another spelling")
  }
  let handshake = WebSocketHandshake(WebSocketOptions(), offersCompression: true)
  let head = String(decoding: handshake.head(of: request, cookies: nil), as: UTF8.self)
  let lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)
  check(lines.filter { $0.lowercased().hasPrefix("host:") }.count == 1, "several hosts in \(head.debugDescription)")
  check(
    lines.count <= 10 && lines.suffix(2) == ["", ""] && !lines.contains { hasControls(String($0)) },
    "injected: \(head.debugDescription)")
}

import JSONText
import PortableFoundation

/// The writer of archives that browsers, proxies and `haralyzer` accept. They require most of these fields.
package enum HARWriter {
  private static let start = Data(
    #"{"log":{"version":"1.2","creator":{"name":"NetLayer","version":"0.1"},"pages":[],"entries":["#.utf8)
  private static let end = Data("\n]}}\n".utf8)

  package static func archive(_ entries: [HAREntry]) -> Data { archive(encoded: entries.map(encoded)) }

  /// Returns an archive of entries that `encoded` has returned, with one entry in each line.
  static func archive(encoded entries: [Data]) -> Data {
    var archive = start
    archive.reserveCapacity(size(encoded: entries))
    for (index, entry) in entries.enumerated() {
      archive += index == 0 ? Data("\n".utf8) : Data(",\n".utf8)
      archive += entry
    }
    return archive + end
  }

  static func size(encoded entries: [Data]) -> Int {
    entries.reduce(start.count + end.count) { $0 + $1.count + separator }
  }

  /// The number of bytes between two entries.
  static let separator = 2

  /// Returns the JSON of one entry, without a line feed.
  static func encoded(_ entry: HAREntry) -> Data {
    var members = [
      member("startedDateTime", HARDate.text(entry.started ?? Date(timeIntervalSince1970: 0))),
      member("time", entry.time), "\"request\":\(request(entry))", "\"response\":\(response(entry))", #""cache":{}"#,
      "\"timings\":\(timings(entry.timings))", member("_resourceType", entry.resourceType),
    ]
    if let address = entry.address { members.append(member("serverIPAddress", address)) }
    members += facts(entry)
    return Data(object(members).utf8)
  }

  private static func request(_ entry: HAREntry) -> String {
    var members = [
      member("method", entry.method), member("url", entry.url), member("httpVersion", entry.httpVersion),
      #""cookies":[]"#, "\"headers\":\(fields(entry.requestHeaders))", "\"queryString\":\(query(entry.url))",
    ]
    var size = 0
    switch entry.requestBody {
    case .none: break
    case .text(let text, let type):
      size = text.utf8.count
      members.append("\"postData\":" + object([member("mimeType", type), member("text", text)]))
    case .digest(let digest, let count, let type):
      size = count
      members.append(
        "\"postData\":" + object([member("mimeType", type), member("text", ""), member("_sha256", digest)]))
    case .unknown: size = -1
    }
    return object(members + [#""headersSize":-1"#, "\"bodySize\":\(size)"])
  }

  private static func response(_ entry: HAREntry) -> String {
    let type = entry.responseHeaders["Content-Type"] ?? "x-unknown"
    var content = ["\"size\":\(entry.fullCount ?? entry.body.count)", member("mimeType", type)]
    if let text = String(validating: entry.body, as: UTF8.self) {
      content.append(member("text", text))
    } else {
      content += [member("text", entry.body.base64EncodedString()), member("encoding", "base64")]
    }
    var members = [
      "\"status\":\(entry.status)", member("statusText", ""),
      member("httpVersion", entry.status == 0 ? "" : entry.httpVersion),
      #""cookies":[]"#, "\"headers\":\(fields(entry.responseHeaders))", "\"content\":\(object(content))",
      member("redirectURL", entry.responseHeaders.values(of: "Location").first ?? ""), #""headersSize":-1"#,
      "\"bodySize\":\(entry.status == 0 ? -1 : entry.fullCount ?? entry.body.count)",
    ]
    if entry.status == 0, let failure = entry.failure {
      members.append(member("_error", "\(failure.kind): \(failure.reason)"))
    }
    return object(members)
  }

  private static func timings(_ timings: HAREntry.Timings) -> String {
    object([
      member("blocked", timings.blocked), member("dns", timings.dns), member("connect", timings.connect),
      member("ssl", timings.ssl), member("send", timings.send), member("wait", timings.wait),
      member("receive", timings.receive),
    ])
  }

  private static func facts(_ entry: HAREntry) -> [String] {
    let facts = entry.facts
    var members = [
      facts.call.map { "\"_call\":\($0)" }, facts.attempt.map { "\"_attempt\":\($0)" },
      facts.pause.map { member("_pause", $0) }, facts.cache.map { member("_cache", $0) },
      facts.cache == "hit" ? member("_fromCache", "memory") : nil, facts.coalesced.map { "\"_coalesced\":\($0)" },
      facts.endpoint.map { member("_endpoint", $0) }, facts.decoding.map { member("_decodeMilliseconds", $0) },
      entry.fullCount.map { _ in "\"_truncated\":\(entry.body.count)" },
    ].compactMap(\.self)
    if let failure = entry.failure {
      let code = failure.code.map { ["\"code\":\($0)"] } ?? []
      members.append(
        "\"_error\":" + object([member("kind", failure.kind)] + code + [member("reason", failure.reason)]))
    }
    if !entry.messages.isEmpty {
      members.append(
        "\"_webSocketMessages\":"
          + array(
            entry.messages.map { message in
              object([
                member("type", message.isSent ? "send" : "receive"), member("time", message.time),
                "\"opcode\":\(message.opcode)", member("data", message.data),
              ])
            }))
    }
    if !entry.events.isEmpty {
      members.append(
        "\"_eventSourceMessages\":"
          + array(
            entry.events.map { event in
              object([
                member("time", event.time), member("eventName", event.name), member("eventId", event.id),
                member("data", event.data),
              ])
            }))
    }
    return members
  }

  private static func fields(_ headers: HTTPHeaders) -> String {
    array(headers.map { object([member("name", $0.name), member("value", $0.value)]) })
  }

  /// Returns the query of a URL as decoded names and values.
  private static func query(_ url: String) -> String {
    guard let start = url.firstIndex(of: "?") else { return "[]" }
    func decoded(_ text: Substring) -> String {
      String(text.replacing("+", with: " ")).decodingPercent ?? String(text)
    }
    return array(
      url[start...].dropFirst().split(separator: "&").map { pair in
        let name = pair.prefix { $0 != "=" }
        return object([
          member("name", decoded(name)), member("value", decoded(pair.dropFirst(name.count + 1))),
        ])
      })
  }

  private static func member(_ name: String, _ value: String) -> String { "\"\(name)\":\(JSON.quoted(value))" }

  private static func member(_ name: String, _ value: Double) -> String {
    let rounded = (value * 1_000).rounded() / 1_000
    return "\"\(name)\":\(Int(exactly: rounded).map(String.init) ?? "\(rounded.isFinite ? rounded : 0)")"
  }

  private static func object(_ members: [String]) -> String { "{" + members.joined(separator: ",") + "}" }
  private static func array(_ values: [String]) -> String { "[" + values.joined(separator: ",") + "]" }
}

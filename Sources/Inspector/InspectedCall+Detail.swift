import NetLayerRecording
import PortableFoundation

extension InspectedCall {
  /// The details of a call, which the page shows next to the list.
  struct Detail: Encodable {
    struct Failure: Encodable {
      var kind: String
      var code: Int?
      var reason: String
    }

    struct Redirect: Encodable {
      var status: Int
      var url: String
    }

    struct Attempt: Encodable {
      /// The URL after the redirects.
      var url: String
      var protocolName: String
      var address: String?
      var reused: Bool?
      var error: Failure?
      var redirects: [Redirect]
    }

    struct Message: Encodable {
      var sent: Bool
      /// The time in milliseconds since 1970.
      var at: Double
      /// The name of an event, or `text` or `binary`.
      var name: String
      var id: String?
      var data: String
    }

    struct Body: Encodable {
      var text: String?
      /// The bytes, if they are not UTF-8.
      var base64: String?
      var type: String
      /// The number of bytes of the whole body; `nil` if it is unknown.
      var size: Int?
      var note: String?
    }

    var id: Int
    var error: Failure?
    var attempts: [Attempt]
    /// The pairs of names and values.
    var requestFields: [[String]]
    var requestBody: Body
    var responseFields: [[String]]
    var responseBody: Body
    var messages: [Message]
    var curl: String?
    var swift: String
  }

  var detail: Detail {
    let entry = attempts.last?.entry ?? HAREntry(method: method, url: url, status: 0)
    return Detail(
      id: number, error: failure.map(Self.detail),
      attempts: attempts.map { attempt in
        Detail.Attempt(
          url: attempt.entry.url, protocolName: attempt.entry.httpVersion, address: attempt.entry.address,
          reused: attempt.isReused,
          error: attempt.failure.map(Self.detail),
          redirects: attempt.redirects.map { Detail.Redirect(status: $0.status, url: $0.url) })
      },
      requestFields: entry.requestHeaders.map { [$0.name, $0.value] }, requestBody: Self.sentBody(entry),
      responseFields: entry.responseHeaders.map { [$0.name, $0.value] }, responseBody: receivedBody(entry),
      messages: Self.messages(entry), curl: entry.isSocket ? nil : request(entry)?.curlCommand(),
      swift: Self.swift(entry))
  }

  private static func detail(_ failure: HAREntry.Failure) -> Detail.Failure {
    Detail.Failure(kind: failure.kind, code: failure.code, reason: failure.reason)
  }

  /// Returns whether a URL, field, body or message of the call, or its error, contains a text, in either case of its ASCII
  /// letters.
  func contains(_ text: String) -> Bool {
    let text = Self.folded(text.utf8)
    func has(_ bytes: some Collection<UInt8>) -> Bool { Self.folded(bytes).firstRange(of: text) != nil }
    func has(_ headers: HTTPHeaders) -> Bool { headers.contains { has("\($0.name): \($0.value)".utf8) } }
    if has(url.utf8) || failure.map({ has($0.reason.utf8) }) == true { return true }
    return attempts.contains { attempt in
      let entry = attempt.entry
      if case .text(let body, _) = entry.requestBody, has(body.utf8) { return true }
      return has(entry.requestHeaders) || has(entry.responseHeaders) || has(entry.body)
        || entry.messages.contains { has($0.data.utf8) } || entry.events.contains { has($0.data.utf8) }
        || attempt.redirects.contains { has($0.url.utf8) || has($0.responseHeaders) }
    }
  }

  private static func folded(_ bytes: some Collection<UInt8>) -> Data {
    Data(bytes.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 })
  }

  private static func messages(_ entry: HAREntry) -> [Detail.Message] {
    let messages = entry.messages.map { message in
      Detail.Message(
        sent: message.isSent, at: message.time * 1_000,
        name: message.opcode != 2 ? "text" : message.data.isEmpty ? "binary, not recorded" : "binary",
        data: message.data)
    }
    let events = entry.events.map { event in
      Detail.Message(sent: false, at: event.time * 1_000, name: event.name, id: event.id, data: event.data)
    }
    return messages + events
  }

  private static func sentBody(_ entry: HAREntry) -> Detail.Body {
    switch entry.requestBody {
    case .none: Detail.Body(type: "", size: 0)
    case .text(let text, let type): Detail.Body(text: text, type: type, size: text.utf8.count)
    case .digest(let digest, let count, let type):
      Detail.Body(type: type, size: count, note: "not text, and thus not recorded; SHA-256 \(digest)")
    case .unknown: Detail.Body(type: "", note: "a file or stream, or not part of the recording")
    }
  }

  private func receivedBody(_ entry: HAREntry) -> Detail.Body {
    let type = entry.responseHeaders["Content-Type"] ?? ""
    let size = attempts.last?.size ?? 0
    var body = Detail.Body(type: type, size: size)
    if let text = String(validating: entry.body, as: UTF8.self) {
      body.text = text
    } else {
      body.base64 = entry.body.base64EncodedString()
    }
    if let reason = entry.missingBody {
      body.note = reason
    } else if entry.body.count < size {
      body.note =
        entry.body.isEmpty
        ? "not recorded: neither UTF-8 nor an image" : "only the first \(entry.body.count) bytes were recorded"
    }
    return body
  }

  // MARK: Copying

  private func request(_ entry: HAREntry) -> Request? {
    guard let url = URL(text: entry.url) else { return nil }
    var request = Request(method: HTTPMethod(rawValue: entry.method), url: url, headers: entry.requestHeaders)
    if case .text(let text, _) = entry.requestBody { request.body = .data(Data(text.utf8)) }
    return request
  }

  private static func swift(_ entry: HAREntry) -> String {
    var (verb, arguments) = ("Call(\(quoted(entry.method)), ", [quoted(entry.url)])
    switch entry.requestBody {
    case .none: break
    case .text(let text, let type):
      if type == "application/json", verbs.contains(entry.method), let literal = literal(text) {
        verb = ".\(entry.method.lowercased())("
        arguments.append("json: \(literal)")
      } else {
        arguments.append("task: .data(Data(\(quoted(text)).utf8), contentType: \(quoted(type)))")
      }
    case .digest, .unknown: arguments.append("task: .data(body, contentType: \(quoted(entry.contentType)))")
    }
    let fields = entry.requestHeaders.filter { $0.name.lowercased() != "content-type" }
    if !fields.isEmpty {
      let pairs = fields.map { "\(quoted($0.name)): \(quoted($0.value))" }
      arguments.append("headers: [\(pairs.joined(separator: ", "))]")
    }
    let call = verb + arguments.joined(separator: ", ") + ")"
    return entry.isSocket
      ? "try await network.withWebSocket(\(call)) { socket in }" : "let response = try await network.fetch(\(call))"
  }

  private static let verbs: Set = ["POST", "PUT", "PATCH", "DELETE"]

  /// Returns the code of a literal that is sent as this JSON; `nil` if there is none, as for a number of 30 digits.
  private static func literal(_ text: String) -> String? {
    (try? JSON(parsing: text)).flatMap { literal($0, depth: 0) }
  }

  private static func literal(_ json: JSON, depth: Int) -> String? {
    // Swift's compiler does not type-check deeper literals in reasonable time.
    guard depth < 20 else { return nil }
    switch json.kind {
    case .null, .missing: return "nil"
    case .bool: return json.description
    case .number: return json.int != nil || json.double.map { JSON($0) == json } == true ? json.description : nil
    case .string: return json.string.map(quoted)
    case .array:
      let elements = (json.array ?? []).map { literal($0, depth: depth + 1) }
      return elements.contains(nil) ? nil : "[\(elements.compactMap { $0 }.joined(separator: ", "))]"
    case .object:
      let members = json.members ?? [], values = members.map { literal($0.value, depth: depth + 1) }
      guard !values.contains(nil), members.count == json.count else { return nil }
      let pairs = zip(members, values).map { "\(quoted($0.key)): \($1 ?? "nil")" }
      return pairs.isEmpty ? "[:]" : "[\(pairs.joined(separator: ", "))]"
    }
  }

  private static func quoted(_ text: String) -> String {
    var literal = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\":
        literal += "\\"
        literal.unicodeScalars.append(scalar)
      case "\n": literal += "\\n"
      case _ where scalar.isControl: literal += "\\u{\(String(scalar.value, radix: 16))}"
      default: literal.unicodeScalars.append(scalar)
      }
    }
    return literal + "\""
  }
}

extension HAREntry {
  fileprivate var isSocket: Bool { resourceType == "websocket" }
  fileprivate var contentType: String { requestHeaders["Content-Type"] ?? "application/octet-stream" }
}

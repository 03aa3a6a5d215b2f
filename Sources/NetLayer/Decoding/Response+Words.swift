import PortableFoundation

/// The words of the server in the body of an unsuccessful response.
extension Response {
  /// The maximum number of characters of a body in an error's reason.
  private static let excerptLength = 200

  /// Returns the message for the user in a body that is not JSON and starts with `text`, in the shapes that web frameworks and
  /// stores use.
  func words(inText text: String) -> String? { plainWords(text) ?? xmlWords(text) }

  /// The start of a body without such a message, on one line and without secrets; `nil` for a body that is not text.
  var excerpt: String? {
    // A multiple, because secrets, line breaks and escapes become shorter or longer.
    var start = body.prefix(4 * Self.excerptLength)
    if start.count < body.count { start.removeLast(start.unfinishedScalar) }
    guard !start.contains(0), let text = String(validating: start, as: UTF8.self) else { return nil }
    let words = request.options.redaction.start(of: text, limit: 4 * Self.excerptLength)
      .split(whereSeparator: \.isWhitespace).joined(separator: " ").escapingControls()
    guard !words.isEmpty else { return nil }
    let isCut = start.count < body.count || words.count > Self.excerptLength
    return words.prefix(Self.excerptLength) + (isCut ? "…" : "")
  }

  /// The first line of a body that is declared to be plain text.
  private func plainWords(_ text: String) -> String? {
    guard headers["Content-Type"].map({ MediaType($0).essence }) == "text/plain" else { return nil }
    let line = text.split(whereSeparator: \.isNewline).first?.trimmingBlanks
    guard let line, !line.isEmpty, !line.hasPrefix("<") else { return nil }
    return String(line).cutWords
  }

  /// The content of the first `<Message>` of XML, as object stores send it.
  private func xmlWords(_ text: String) -> String? {
    let type = headers["Content-Type"].map { MediaType($0).essence } ?? ""
    guard type.hasSuffix("/xml") || type.hasSuffix("+xml") || body.starts(with: "<?xml".utf8) else { return nil }
    for name in ["Message", "message"] {
      guard let start = text.firstRange(of: "<\(name)>"),
        let end = text[start.upperBound...].firstRange(of: "</\(name)>")
      else { continue }
      let content = text[start.upperBound..<end.lowerBound]
      // Elements inside are not words.
      guard !content.contains("<") else { continue }
      let words = String(content).unescapingXML.trimming { $0.properties.isWhitespace }
      if !words.isEmpty { return words.cutWords }
    }
    return nil
  }
}

extension String {
  /// The start of a message, of a readable length; a body may be megabytes in size.
  var cutWords: String { count > 1000 ? prefix(1000) + "…" : self }

  fileprivate var unescapingXML: String {
    guard contains("&") else { return self }
    return [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")].reduce(self) {
      $0.replacing($1.0, with: $1.1)
    }
  }
}

extension JSON {
  /// The messages for fields: those of Django REST framework, `{"email": ["is taken"]}`, or of Rails and Laravel, below `errors`. Also
  /// a list of messages in `errors`.
  var fieldWords: String? {
    let errors = self["errors"]
    if let list = errors.array {
      let words = list.compactMap(\.string)
      return words.isEmpty || words.count < list.count ? nil : words.prefix(5).joined(separator: "; ")
    }
    guard let members = errors.exists ? errors.members : members, !members.isEmpty else { return nil }
    var lines: [String] = []
    for member in members {
      // Any other member shows that the object is not a list of fields.
      let list = member.value.array ?? []
      let words = list.compactMap(\.string)
      guard !words.isEmpty, words.count == list.count else { return nil }
      if lines.count < 5 { lines.append("\(member.key): \(words.joined(separator: ", "))") }
    }
    return lines.joined(separator: "; ")
  }
}

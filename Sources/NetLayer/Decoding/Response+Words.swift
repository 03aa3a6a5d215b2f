import PortableFoundation

/// The words of the server in the body of an unsuccessful response.
extension Response {
  /// The maximum number of characters of a body in an error's reason.
  private static let excerptLength = 200
  /// The maximum number of bytes of a body that is not the stream that a call expects.
  static let streamExcerpt = 64 << 10

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
  /// A text, or a list of texts, at a path that names messages, as NestJS sends them.
  var messageWords: String? { string ?? texts?.joined(separator: "; ") }

  /// The texts of a list that has no other elements; `nil` for anything else, and for an empty list.
  private var texts: [String]? {
    guard let list = array else { return nil }
    let texts = list.prefix(6).compactMap(\.string)
    return texts.isEmpty || texts.count < min(6, list.count) ? nil : Array(texts.prefix(5))
  }

  /// The messages for fields: those of Django REST framework, `{"email": ["is taken"]}`, also nested and in lists, or of Rails,
  /// Laravel and ASP.NET, below `errors`. Also a list of messages.
  var fieldWords: String? {
    let errors = self["errors"].exists ? self["errors"] : self
    var lines: [String] = []
    guard errors.addFieldWords(to: &lines, at: ""), !lines.isEmpty else { return nil }
    return lines.joined(separator: "; ")
  }

  /// Adds up to five messages. Returns whether there are only messages for fields, none of which is an own value.
  private func addFieldWords(to lines: inout [String], at path: String) -> Bool {
    if let texts {
      // These names stand for the whole object, in Django and in Rails.
      let name = path.split(separator: ".").last.map(String.init) ?? ""
      let isWhole = path.isEmpty || ["non_field_errors", "__all__", "base"].contains(name)
      if lines.count < 5 {
        lines.append(isWhole ? texts.joined(separator: "; ") : "\(path): \(texts.joined(separator: ", "))")
      }
      return true
    }
    let prefix = path.isEmpty ? "" : path + "."
    guard path.utf8.count < 200 else { return false }
    if let list = array {
      return list.enumerated().allSatisfy { $1.addFieldWords(to: &lines, at: prefix + String($0)) }
    }
    return members?.allSatisfy { $0.value.addFieldWords(to: &lines, at: prefix + $0.key) } ?? false
  }
}

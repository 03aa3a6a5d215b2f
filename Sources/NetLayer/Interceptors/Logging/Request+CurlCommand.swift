import PortableFoundation

extension Request {
  /// Returns the request as a `curl` command for a POSIX shell.
  ///
  /// - Parameter own: The secrets to hide, in addition to those of the backend. With `.none`, the command sends the same request.
  /// - Returns: One line without control characters. Files are referenced by path. Non-text bodies in memory are replaced
  ///   by their size, because secrets in them can't be hidden; with `.none`, they are base64. Multipart bodies that are
  ///   text are always base64, and so is text with line breaks or other control characters. A HEAD request with a body
  ///   is sent unchanged, but curl then waits for a response body until the server closes the connection.
  public func curlCommand(redaction own: Redaction = .inherited) -> String {
    let redaction = self.redaction(adding: own)
    var words = ["curl", "--globoff", "--compressed"]
    let (input, data) = content(redaction)
    // With a body, curl rejects `--head`; `--request HEAD` sends the same, but curl waits for a response body that
    // never arrives.
    if method == .head, data.isEmpty {
      words.append("--head")
    } else if method != (data.isEmpty ? .get : .post) {
      words += ["--request", Self.quoted(method.rawValue)]
    }
    words.append(Self.quoted(redaction.redacted(url)))
    for field in redaction.redacted(headers) {
      // `Name:` without a value would remove curl's own field.
      words += ["--header", Self.quoted(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")]
    }
    // curl would send every body as a form.
    if !data.isEmpty, headers["Content-Type"] == nil { words += ["--header", Self.quoted("Content-Type:")] }
    return input + (words + data).joined(separator: " ")
  }

  /// Returns the commands that pipe the body to curl, and the options that send it.
  private func content(_ redaction: Redaction) -> (input: String, data: [String]) {
    switch body {
    // The transport sends a length with these methods, and some servers require it.
    case .none: return ("", [.post, .put, .patch].contains(method) ? ["--data-raw", "''"] : [])
    case .data(let bytes):
      guard let shown = Self.shown(bytes, redaction) else {
        return ("", ["--data-binary", Self.quoted("<\(bytes.count) bytes>")])
      }
      guard let text = String(validating: shown, as: UTF8.self), !text.unicodeScalars.contains(where: \.isControl)
      else { return (Self.echo(shown) + " | ", ["--data-binary", "@-"]) }
      return ("", ["--data-raw", Self.quoted(text)])
    case .file(let file): return ("", ["--data-binary", Self.quoted("@" + file.path)])
    case .stream: return ("", ["--data-binary", Self.quoted("<a stream>")])
    case .parts(let parts):
      let commands = Self.joined(parts).map { part in
        switch part {
        case .data(let bytes):
          Self.shown(bytes, redaction).map(Self.echo) ?? "printf %s \(Self.quoted("<\(bytes.count) bytes>"))"
        case .file(let file): "cat \(Self.quoted(file.path))"
        }
      }
      return ("{ \((commands.isEmpty ? [":"] : commands).joined(separator: "; ")); } | ", ["--data-binary", "@-"])
    }
  }

  /// Returns the visible part of `bytes`; `nil` for non-text, unless nothing is hidden.
  private static func shown(_ bytes: Data, _ redaction: Redaction) -> Data? {
    if redaction.hidesNothing { return bytes }
    return String(validating: bytes, as: UTF8.self).map { Data(redaction.redacted($0).utf8) }
  }

  /// Joins adjacent data, because a secret and its name may be in two parts.
  private static func joined(_ parts: [Body.Part]) -> [Body.Part] {
    parts.reduce(into: []) { result, part in
      if case .data(let bytes) = part, case .data(let before)? = result.last {
        result[result.count - 1] = .data(before + bytes)
      } else {
        result.append(part)
      }
    }
  }

  private static func echo(_ bytes: Data) -> String { "echo \(bytes.base64EncodedString()) | base64 -d" }

  /// Returns one word for the shell, which reads bytes, not characters: a quote with a combining accent also ends a
  /// word.
  private static func quoted(_ text: String) -> String {
    if text.unicodeScalars.contains(where: \.isControl) { return "\"$(\(echo(Data(text.utf8))))\"" }
    var word = "'"
    for scalar in text.unicodeScalars {
      if scalar == "'" { word += "'\\''" } else { word.unicodeScalars.append(scalar) }
    }
    return word + "'"
  }
}

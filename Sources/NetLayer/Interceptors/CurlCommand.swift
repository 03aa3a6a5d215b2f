import Foundation

extension Request {
  /// The request as a `curl` command for a POSIX shell (article row 2.19).
  ///
  /// - Parameter redaction: what is hidden; with `.none` the command can be pasted and does the same.
  /// - Returns: one line. Bodies in memory that are no text travel as base64; files and multipart pieces are named.
  public func curlCommand(redaction: Redaction = .standard) -> String {
    var words = ["curl", "--globoff", "--compressed"]
    var input = ""
    var data: [String] = []
    switch body {
    case .none: break
    case .data(let bytes):
      if let text = String(validating: bytes, as: UTF8.self), !text.unicodeScalars.contains("\0") {
        data = ["--data-raw", Self.quoted(redaction.text(text))]
      } else {
        input = "echo \(bytes.base64EncodedString()) | base64 -d | "
        data = ["--data-binary", "@-"]
      }
    case .file(let file): data = ["--data-binary", Self.quoted("@" + file.path)]
    case .parts(let parts):
      input = "cat "
      let names = parts.map { part in
        switch part {
        case .data(let bytes): "<(echo \(bytes.base64EncodedString()) | base64 -d)"
        case .file(let file): Self.quoted(file.path)
        }
      }
      input += names.joined(separator: " ") + " | "
      data = ["--data-binary", "@-"]
    }
    if method == .head {
      words.append("--head")
    } else if method != (data.isEmpty ? .get : .post) {
      words += ["--request", Self.quoted(method.rawValue)]
    }
    words.append(Self.quoted(redaction.url(url)))
    for field in redaction.headers(headers) { words += ["--header", Self.quoted("\(field.name): \(field.value)")] }
    // curl would call every body a form.
    if !data.isEmpty, headers["Content-Type"] == nil { words += ["--header", Self.quoted("Content-Type:")] }
    return input + (words + data).joined(separator: " ")
  }

  /// One word for the shell. It knows no characters, only bytes: a quote with an accent on it ends a word, too.
  private static func quoted(_ text: String) -> String {
    var word = "'"
    for scalar in text.unicodeScalars {
      if scalar == "'" { word += "'\\''" } else { word.unicodeScalars.append(scalar) }
    }
    return word + "'"
  }
}

import Foundation

extension MultipartForm {
  /// The fields, sorted, before the parts; `common` ones only where the form has none of that name.
  func fields(over common: Parameters) throws -> [(name: String, value: String)] {
    let encoder = URLParameterEncoder()
    let named = Set(parts.map(\.name))
    return try encoder.pairs(of: (pairs ?? [:]).over(common)).filter { !named.contains($0.name) }
  }

  /// Puts the form into the body of `request`, with its `Content-Type`.
  ///
  /// A multipart `Content-Type` of the caller's is kept and told the boundary.
  ///
  /// - Throws: `NetworkError` of kind `encoding` for a boundary that is malformed (RFC 2046 §5.1.1) or part of the
  ///   content, and for a part's type that would break the line.
  func encode(over common: Parameters, into request: inout Request) throws {
    let all = try fields(over: common).map { Part.field($0.name, $0.value) } + parts
    let boundary = try boundary.map { try Self.checked($0, against: all) } ?? Self.fresh(against: all)
    var pieces: [Request.Body.Part] = []
    var text = ""
    for part in all {
      text += "--\(boundary)\r\n" + (try Self.head(of: part)) + "\r\n\r\n"
      Self.add(Data(text.utf8), to: &pieces)
      switch part.content {
      case .data(let data): Self.add(data, to: &pieces)
      case .file: pieces.append(part.content)
      }
      text = "\r\n"
    }
    Self.add(Data((text + "--\(boundary)--\r\n").utf8), to: &pieces)
    if pieces.count == 1, case .data(let data) = pieces[0] {
      request.body = .data(data)
    } else {
      request.body = .parts(pieces)
    }
    let quoted = RequestCheck.isToken(boundary) ? boundary : "\"\(boundary)\""
    // Another multipart type of the caller's is kept, but the boundary is the one in the body.
    let given = request.headers["Content-Type"].flatMap { $0.lowercased().hasPrefix("multipart/") ? $0 : nil }
    let kept = (given ?? "multipart/form-data").split(separator: ";")
      .map { $0.trimmingCharacters(in: .whitespaces) }
      .filter { !$0.lowercased().hasPrefix("boundary=") }
    request.headers["Content-Type"] = (kept + ["boundary=\(quoted)"]).joined(separator: "; ")
  }

  /// Joins neighbours in memory, so that a form without files is one piece.
  private static func add(_ data: Data, to pieces: inout [Request.Body.Part]) {
    guard case .data(var joined)? = pieces.last else { return pieces.append(.data(data)) }
    // Taken out first, so that it is appended to in place and not copied for each part.
    pieces.removeLast()
    joined.append(data)
    pieces.append(.data(joined))
  }

  private static func head(of part: Part) throws -> String {
    var head = "Content-Disposition: form-data; name=\"\(escape(lineBreaks(part.name)))\""
    if let filename = part.filename { head += "; filename=\"\(escape(filename))\"" }
    guard let type = part.contentType else { return head }
    if type.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
      throw NetworkError(
        kind: .encoding, reason: "the type \(type.debugDescription) of part \(part.name.debugDescription) breaks a line"
      )
    }
    return head + "\r\nContent-Type: \(type)"
  }

  /// As browsers do it: a quote and line breaks are percent-encoded, everything else is UTF-8 as it is (WHATWG HTML,
  /// "multipart/form-data encoding algorithm").
  private static func escape(_ name: String) -> String {
    var result = ""
    for scalar in name.unicodeScalars {
      switch scalar {
      case "\"": result += "%22"
      case "\r": result += "%0D"
      case "\n": result += "%0A"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// The name with CRLF for every line break, as browsers send it; a file's name is left as it is (the same algorithm).
  private static func lineBreaks(_ name: String) -> String {
    var result = ""
    var before: Unicode.Scalar?
    for scalar in name.unicodeScalars {
      switch scalar {
      case "\r": result += "\r\n"
      case "\n": if before != "\r" { result += "\r\n" }
      default: result.unicodeScalars.append(scalar)
      }
      before = scalar
    }
    return result
  }

  /// 128 random bits: no content of a file has them by accident. What is in memory is looked through all the same.
  private static func fresh(against parts: [Part]) -> String {
    while true {
      var generator = SystemRandomNumberGenerator()
      let digits = (0..<2).map { _ in
        let digits = String(generator.next(), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
      }
      let boundary = "netlayer." + digits.joined()
      if !parts.contains(where: { contains(boundary, $0, filesToo: false) }) { return boundary }
    }
  }

  private static func checked(_ boundary: String, against parts: [Part]) throws -> String {
    let allowed = boundary.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x20, 0x27...0x29, 0x2B...0x2F, 0x3A, 0x3D, 0x3F, 0x5F: true
      default: false
      }
    }
    guard allowed, (1...70).contains(boundary.utf8.count), !boundary.hasSuffix(" ") else {
      throw NetworkError(
        kind: .encoding,
        reason: "\(boundary.debugDescription) is no boundary: 1 to 70 letters, digits and '()+_,-./:=? are allowed")
    }
    if let part = parts.first(where: { contains(boundary, $0, filesToo: true) }) {
      throw NetworkError(
        kind: .encoding,
        reason: "the boundary \(boundary) stands in part \(part.name.debugDescription); leave the choice to the form")
    }
    return boundary
  }

  private static func contains(_ boundary: String, _ part: Part, filesToo: Bool) -> Bool {
    let mark = Data("--\(boundary)".utf8)
    switch part.content {
    case .data(let data): return data.range(of: mark) != nil
    case .file(let file):
      // A file that cannot be read fails where it is opened to be sent.
      guard filesToo, let data = try? Data(contentsOf: file, options: .mappedIfSafe) else { return false }
      return data.range(of: mark) != nil
    }
  }
}

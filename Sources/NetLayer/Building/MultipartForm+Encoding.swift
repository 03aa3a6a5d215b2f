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
  /// - Throws: what `pieces` throws.
  func encode(over common: Parameters, into request: inout Request) throws {
    let (pieces, boundary) = try pieces(over: common)
    if pieces.count == 1, case .data(let data) = pieces[0] {
      request.body = .data(data)
    } else {
      request.body = .parts(pieces)
    }
    request.headers["Content-Type"] = Self.contentType(request.headers["Content-Type"], boundary: boundary)
  }

  /// The body in order, and the boundary in it.
  ///
  /// - Throws: `NetworkError` of kind `encoding` for a boundary that is malformed (RFC 2046 §5.1.1) or part of the
  ///   content, and for a part's type or header that would break the part; of kind `invalidRequest` for a file that can't be
  ///   read.
  func pieces(over common: Parameters) throws -> (pieces: [Request.Body.Part], boundary: String) {
    let all = try fields(over: common).map { Part.field($0.name, $0.value) } + parts
    for case .file(let file) in all.map(\.content) { try BodyFile.check(file) }
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
    return (pieces, boundary)
  }

  /// Another multipart type of the caller's is kept, but the boundary is the one in the body.
  static func contentType(_ given: String?, boundary: String) -> String {
    let given = given.flatMap { $0.lowercased().hasPrefix("multipart/") ? $0 : nil }
    let kept = MediaType(given ?? "multipart/form-data").pieces
      .filter { !$0.isEmpty && MediaType.name($0) != "boundary" }
    let quoted = RequestCheck.isToken(boundary) ? boundary : "\"\(boundary)\""
    return (kept + ["boundary=\(quoted)"]).joined(separator: "; ")
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
    var fields = part.headers.map { $0 }
    if let type = part.contentType.unlessEmpty { fields.insert(.init(name: "Content-Type", value: type), at: 0) }
    for name in ["Content-Type", "Content-Length", "Content-Disposition"] where part.headers[name] != nil {
      throw refused(part, "has the header \(name), which the form writes; remove it")
    }
    for field in fields {
      guard RequestCheck.isToken(field.name), !field.value.utf8.contains(where: RequestCheck.isForbiddenInValue) else {
        throw refused(part, "has the header \("\(field.name): \(field.value)".debugDescription), which breaks a line")
      }
      head += "\r\n\(field.name): \(field.value)"
    }
    return head
  }

  private static func refused(_ part: Part, _ reason: String) -> NetworkError {
    NetworkError(kind: .encoding, reason: "the part \(part.name.debugDescription) \(reason)")
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
      // That it can be read has been seen before.
      guard filesToo, let data = try? Data(contentsOf: file, options: .mappedIfSafe) else { return false }
      return data.range(of: mark) != nil
    }
  }
}

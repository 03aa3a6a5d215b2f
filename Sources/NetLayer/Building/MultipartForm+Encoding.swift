import PortableFoundation

extension MultipartForm {
  /// Returns the fields, sorted, before the parts. `common` parameters are included only if the form has no field of
  /// that name.
  func fields(
    over common: Parameters, as encoder: URLParameterEncoder = URLParameterEncoder()
  ) throws -> [(name: String, value: String)] {
    let named = Set(parts.map(\.name))
    return try encoder.pairs(of: (pairs ?? [:]).over(common)).filter { !named.contains($0.name) }
  }

  func encode(
    over common: Parameters, as encoder: URLParameterEncoder = URLParameterEncoder(), into request: inout Request
  ) throws {
    let (parts, boundary) = try parts(over: common, as: encoder)
    if parts.count == 1, case .data(let data) = parts[0] {
      request.body = .data(data)
    } else {
      request.body = .parts(parts)
    }
    request.headers["Content-Type"] = Self.contentType(request.headers["Content-Type"], boundary: boundary)
  }

  /// Returns the body in order, and the boundary in it.
  ///
  /// - Throws: `NetworkError` of kind `encoding` for a boundary that is malformed (RFC 2046 §5.1.1) or part of the
  ///   content. The same kind reports a content type or header that would corrupt its part. The kind is
  ///   `invalidRequest` for a file that can't be read.
  func parts(
    over common: Parameters, as encoder: URLParameterEncoder = URLParameterEncoder()
  ) throws -> (parts: [Request.Body.Part], boundary: String) {
    let all = try fields(over: common, as: encoder).map { Part.field($0.name, $0.value) } + parts
    for case .file(let file) in all.map(\.content) { try BodyFile.check(file) }
    let boundary = try boundary(against: all)
    var parts: [Request.Body.Part] = []
    var text = ""
    for part in all {
      text += "--\(boundary)\r\n" + (try Self.head(of: part)) + "\r\n\r\n"
      Self.add(Data(text.utf8), to: &parts)
      switch part.content {
      case .data(let data): Self.add(data, to: &parts)
      case .file: parts.append(part.content)
      }
      text = "\r\n"
    }
    Self.add(Data((text + "--\(boundary)--\r\n").utf8), to: &parts)
    return (parts, boundary)
  }

  /// Joins adjacent data, so that a form without files is one block.
  private static func add(_ data: Data, to parts: inout [Request.Body.Part]) {
    guard case .data(var joined)? = parts.last else { return parts.append(.data(data)) }
    // Taken out first, so that the data is appended in place and not copied for each part.
    parts.removeLast()
    joined.append(data)
    parts.append(.data(joined))
  }

  private static func head(of part: Part) throws -> String {
    var head = "Content-Disposition: form-data; name=\"\(escape(lineBreaks(part.name)))\""
    if let filename = part.filename { head += "; filename=\"\(escape(filename))\"" }
    var fields = part.headers.map { $0 }
    if let type = part.contentType.unlessEmpty { fields.insert(.init(name: "Content-Type", value: type), at: 0) }
    for name in ["Content-Type", "Content-Length", "Content-Disposition"] where part.headers[name] != nil {
      throw refused(part, "has the header \(name), which the form adds itself; remove it")
    }
    for field in fields {
      guard RequestCheck.isToken(field.name), !field.value.utf8.contains(where: RequestCheck.isForbiddenInValue) else {
        throw refused(
          part, "has the invalid header \("\(field.name): \(field.value)".debugDescription); remove control characters")
      }
      head += "\r\n\(field.name): \(field.value)"
    }
    return head
  }

  private static func refused(_ part: Part, _ reason: String) -> NetworkError {
    NetworkError(kind: .encoding, reason: "the part \(part.name.debugDescription) \(reason)")
  }

  /// Returns `name` as browsers send it: quotes and line breaks percent-encoded, everything else unescaped UTF-8
  /// (WHATWG HTML, "multipart/form-data encoding algorithm").
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

  /// Returns the name with CRLF for every line break, as browsers send it. File names are left unchanged (same
  /// algorithm).
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
}

import PortableFoundation

extension MultipartForm {
  /// Returns the boundary of the form: the requested one, or a new one.
  func boundary(against parts: [Part]) throws -> String {
    try boundary.map { try Self.checked($0, against: parts) } ?? Self.fresh(against: parts)
  }

  /// Returns the `Content-Type` with the boundary of the body. A custom multipart type is kept.
  static func contentType(_ given: String?, boundary: String) -> String {
    let given = given.flatMap { $0.lowercased().hasPrefix("multipart/") ? $0 : nil }
    let kept = MediaType(given ?? "multipart/form-data").parts
      .filter { !$0.isEmpty && MediaType.name($0) != "boundary" }
    let quoted = RequestCheck.isToken(boundary) ? boundary : "\"\(boundary)\""
    return (kept + ["boundary=\(quoted)"]).joined(separator: "; ")
  }

  /// Returns 128 random bits, which no file contains by accident. Content in memory is searched for them anyway.
  private static func fresh(against parts: [Part]) -> String {
    while true {
      let digits = (0..<2).map { _ in UInt64.random(in: .min ... .max).hex(digits: 16) }
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
        reason: "invalid boundary \(boundary.debugDescription): use 1 to 70 letters, digits and '()+_,-./:=?")
    }
    if let part = parts.first(where: { contains(boundary, $0, filesToo: true) }) {
      throw NetworkError(
        kind: .encoding,
        reason: "the boundary \(boundary) occurs in part \(part.name.debugDescription); let the form choose one")
    }
    return boundary
  }

  /// Returns whether `data` contains `mark`, which starts with a hyphen.
  private static func contains(_ mark: Data, _ data: Data) -> Bool {
    mark.withUnsafeBytes { mark in
      data.withUnsafeBytes { data in
        guard let sought = mark.baseAddress, var rest = data.baseAddress else { return false }
        let end = rest + data.count
        while let hyphen = memchr(rest, Int32(UInt8(ascii: "-")), end - rest).map(UnsafeRawPointer.init) {
          guard end - hyphen >= mark.count else { return false }
          if memcmp(hyphen, sought, mark.count) == 0 { return true }
          rest = hyphen + 1
        }
        return false
      }
    }
  }

  private static func contains(_ boundary: String, _ part: Part, filesToo: Bool) -> Bool {
    let mark = Data("--\(boundary)".utf8)
    switch part.content {
    case .data(let data): return contains(mark, data)
    case .file(let file):
      // An earlier check has verified that the file can be read.
      guard filesToo, let data = try? Data(contentsOf: file, options: .mappedIfSafe) else { return false }
      return contains(mark, data)
    }
  }
}

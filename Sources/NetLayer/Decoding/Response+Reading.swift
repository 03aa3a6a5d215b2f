import PortableFoundation

extension Response {
  /// The body as text, in the charset that its byte order mark or `Content-Type` declares, else UTF-8.
  ///
  /// The mark counts more, and is no part of the text (WHATWG Encoding, "decode").
  ///
  /// - Throws: `NetworkError` of kind `parse` for bytes that are no such text and for a charset that is not known.
  public func text() throws -> String {
    if let (name, encoding, length) = mark { return try text(body.dropFirst(length), encoding, name) }
    guard let name = charset, !name.isEmpty else { return try text(body, .utf8, "utf-8") }
    guard let encoding = Self.encodings[name] else {
      throw failure("the charset \(name.debugDescription) is not known")
    }
    return try text(body, encoding, name)
  }

  private func text(_ bytes: Data, _ encoding: String.Encoding, _ name: String) throws -> String {
    let text = encoding == .utf8 ? String(validating: bytes, as: UTF8.self) : String(data: bytes, encoding: encoding)
    guard let text else {
      // Zeros are text in every charset, so where not even they are read, the decoder is missing.
      guard String(data: Data(count: 4), encoding: encoding) != nil else {
        throw failure(
          "the charset \(name.debugDescription) needs Foundation, which this program leaves out; read the body's bytes, or "
            + "use a class of Foundation such as NSString")
      }
      throw failure("the body is no text in \(name)")
    }
    return text
  }

  /// The body as JSON, whatever the status.
  ///
  /// - Throws: `NetworkError` of kind `parse`: for malformed JSON with the offset in its reason and a `JSONError` as its
  ///   cause, for an empty body, and for HTML.
  public func json() throws -> JSON { try json(carrying: reading.with(response: self)) }

  func json(carrying context: ResponseContext) throws -> JSON {
    do {
      return try JSON(body, carrying: context)
    } catch let error as JSONError {
      throw failure(error.complaint(about: body, headers: headers, status: status), underlying: error)
    }
  }

  /// A model of the value at `path` of the body, made by the back end's decoder, whatever the status.
  ///
  /// - Throws: `NetworkError` of kind `parse`.
  public func decode<Model: Decodable>(
    _ type: Model.Type = Model.self, at path: String? = nil
  ) throws(NetworkError) -> Model {
    do {
      return try model(type, at: path, failsOnEmptyData: true)
    } catch {
      throw NetworkError.wrapping(error)
    }
  }

  /// A model of the value at `path` of the body.
  @usableFromInline
  func model<Model: Decodable>(_ type: Model.Type, at path: String?, failsOnEmptyData: Bool) throws -> Model {
    guard body.isEmpty, !failsOnEmptyData else { return try json().model(type, at: path) }
    var stand = self
    var last: (any Error)?
    for text in ["null", "{}", "[]"] {
      stand.body = Data(text.utf8)
      do { return try stand.json().model(type, at: nil) } catch { last = error }
    }
    throw failure("the body is empty, and \(type) can't be made of nothing", underlying: last)
  }

  /// The same response, read with `decoder` if there is one.
  @usableFromInline
  func decoding(with decoder: (any ModelDecoder)?) -> Response {
    guard let decoder else { return self }
    var copy = self
    copy.context[ResponseContext.self] = reading.with(decoder: decoder)
    return copy
  }

  /// This response, if its status is one of success, 200 to 299 (article row 2.17).
  ///
  /// - Throws: `NetworkError` of kind `status` with the status as its code, and the server's words where the body has some:
  ///   see `Envelope.errorMessages`.
  public func validated() throws -> Response {
    try validate(by: reading.envelope.value)
    return self
  }

  /// Throws where the status is no success: here, and nowhere else, a 404 becomes an error.
  func validate(by envelope: Envelope) throws {
    if !isSuccess { throw failure(by: envelope) }
  }

  /// What is wrong with a response whose status is no success.
  func failure(by envelope: Envelope) -> NetworkError {
    // An error page is not always JSON; when it is, the server's own words are the best there are.
    let words = (try? JSON(body)).flatMap(envelope.words)
    // Without the query: tokens travel in it.
    let place = url.absoluteString.prefix { $0 != "?" && $0 != "#" }
    var reason = "the server answered \(request.method) \(place) with status \(status)"
    if let words { reason += ": \(words)" }
    return reading.error(
      .status, reason, code: status, message: words, response: self)
  }

  /// A parse error about this response.
  func failure(_ reason: String, underlying: (any Error)? = nil) -> NetworkError {
    reading.error(.parse, reason, response: self, underlying: underlying)
  }

  /// The charset of the body's byte order mark, and how many bytes that has.
  private var mark: (name: String, encoding: String.Encoding, length: Int)? {
    if body.starts(with: [0xEF, 0xBB, 0xBF]) { return ("utf-8", .utf8, 3) }
    if body.starts(with: [0xFF, 0xFE, 0, 0]) { return ("utf-32le", .utf32LittleEndian, 4) }
    if body.starts(with: [0, 0, 0xFE, 0xFF]) { return ("utf-32be", .utf32BigEndian, 4) }
    if body.starts(with: [0xFE, 0xFF]) { return ("utf-16be", .utf16BigEndian, 2) }
    if body.starts(with: [0xFF, 0xFE]) { return ("utf-16le", .utf16LittleEndian, 2) }
    return nil
  }

  /// The `charset` parameter of `Content-Type`, in lower case (RFC 9110 §8.3.2).
  private var charset: String? {
    headers["Content-Type"].flatMap { MediaType($0).parameter("charset") }?
      .trimming { $0 == "\"" || $0 == "'" }.lowercased()
  }

  private static let encodings: [String: String.Encoding] = [
    "utf-8": .utf8, "utf8": .utf8, "us-ascii": .ascii, "ascii": .ascii, "iso-8859-1": .isoLatin1, "latin1": .isoLatin1,
    "iso-8859-2": .isoLatin2, "windows-1250": .windowsCP1250, "windows-1251": .windowsCP1251,
    "windows-1252": .windowsCP1252, "utf-16": .utf16, "utf-16le": .utf16LittleEndian, "utf-16be": .utf16BigEndian,
    "utf-32": .utf32, "shift_jis": .shiftJIS, "euc-jp": .japaneseEUC, "iso-2022-jp": .iso2022JP,
    // GB 18030 contains the other two, and servers say any of the three (WHATWG Encoding, "gbk").
    "gb18030": coreFoundation(0x0632), "gbk": coreFoundation(0x0632), "gb2312": coreFoundation(0x0632),
    "big5": coreFoundation(0x0A03), "euc-kr": coreFoundation(0x0940),
  ]

  /// An encoding that Foundation knows by its number in `CFStringEncodingExt.h` only.
  private static func coreFoundation(_ number: UInt) -> String.Encoding {
    String.Encoding(rawValue: 0x8000_0000 | number)
  }
}

extension JSON {
  /// Takes a text that came from somewhere, to be read as `Network.default` says.
  init(received data: Data) throws {
    let context = Network.default.reading
    do {
      try self.init(data, carrying: context)
    } catch let error as JSONError {
      throw context.error(.parse, error.complaint(about: data), underlying: error)
    }
  }
}

extension JSONError {
  /// What to say about a body that is not JSON: the most frequent cases are not malformed JSON at all.
  fileprivate func complaint(about body: Data, headers: HTTPHeaders = [:], status: Int? = nil) -> String {
    if kind == .empty { return "the body is empty where JSON was expected" + (status.map { " (status \($0))" } ?? "") }
    if body.prefix(64).drop(while: { $0 <= 0x20 }).first == UInt8(ascii: "<") {
      return "the body is HTML or XML instead of JSON" + (headers["Content-Type"].map { " (Content-Type \($0))" } ?? "")
    }
    return "the body is not JSON: \(self)"
  }
}

import PortableFoundation

extension Response {
  /// Decodes the body as text, in the charset of its byte order mark or `Content-Type`, else UTF-8. XML without a
  /// `charset` has the encoding of its declaration (RFC 7303 §3).
  ///
  /// The byte order mark takes precedence and is not part of the text (WHATWG Encoding, "decode").
  ///
  /// - Throws: `NetworkError` of kind `parse` if the charset is unknown or the bytes are invalid in it.
  public func text() throws(NetworkError) -> String {
    if let (name, encoding, length) = mark { return try text(body.dropFirst(length), encoding, name) }
    guard let name = charset.unlessEmpty ?? declaredEncoding else { return try text(body, .utf8, "utf-8") }
    guard let encoding = String.Encoding(label: name) else {
      throw parseFailure("unknown charset \(name.debugDescription); name one with text(as:), or decode the body bytes")
    }
    return try text(body, encoding, name)
  }

  /// Decodes the body as text in `encoding`, for a server that declares none or a wrong one.
  ///
  /// - Throws: `NetworkError` of kind `parse` if the bytes are invalid in it.
  public func text(as encoding: String.Encoding) throws(NetworkError) -> String {
    try text(body, encoding, "\(encoding)")
  }

  private func text(_ bytes: Data, _ encoding: String.Encoding, _ name: String) throws(NetworkError) -> String {
    guard let text = encoding.text(of: bytes) else {
      // Zeros are valid text in every charset, so if they fail, the decoder is missing.
      guard encoding.text(of: Data(count: 4)) != nil else {
        throw parseFailure(
          "the charset \(name.debugDescription) requires Foundation, which this program does not link; decode the body "
            + "bytes yourself, or use a Foundation class such as NSString")
      }
      throw parseFailure("the body is not valid text in \(name)")
    }
    return text
  }

  /// Parses the body as JSON, regardless of the status.
  ///
  /// - Throws: `NetworkError` of kind `parse` for an empty body, for HTML, and for malformed JSON. For malformed JSON,
  ///   the reason contains the offset, and the underlying error is a `JSONError`.
  public func json() throws(NetworkError) -> JSON { try json(carrying: reading.with(response: self)) }

  func json(carrying context: ResponseContext) throws(NetworkError) -> JSON {
    do {
      return try JSON(body, carrying: context)
    } catch {
      let reason = (error as? JSONError)?.reason(for: body, headers: headers, status: status) ?? "\(error)"
      throw parseFailure(reason + (body.isEmpty ? "" : remarkOnCharset), underlying: error)
    }
  }

  /// Parses the body as JSON after checking the HTTP status, then checks the code in the backend's envelope.
  ///
  /// - Throws: `NetworkError` of kind `status`, `rejected` or `parse`.
  public func common() throws(NetworkError) -> JSON { try checked(by: nil) }

  /// The same with `envelope` instead of the backend's.
  public func common(_ envelope: Envelope) throws(NetworkError) -> JSON { try checked(by: envelope) }

  private func checked(by envelope: Envelope?, mayBeBlank: Bool = true) throws(NetworkError) -> JSON {
    let context = reading.with(response: self, isAccepted: true, by: envelope)
    let rules = context.envelope
    try validate(by: rules)
    var response = self
    if mayBeBlank, rules.value.isNone, isBlank { response.body = Data("null".utf8) }
    let json = try response.json(carrying: context)
    try rules.check(json)
    return json
  }

  /// Decodes a model from the value at `path` of the body with the backend's decoder, regardless of the status. Without
  /// `path`, `String` is the text of the body, and `Data` its bytes.
  ///
  /// - Throws: `NetworkError` of kind `parse`.
  public func decode<Model: NonisolatedDecodable>(
    _ type: Model.Type = Model.self, at path: String? = nil
  ) throws(NetworkError) -> sending Model {
    do {
      return try model(type, at: path, failsOnEmptyData: true)
    } catch {
      throw NetworkError.wrapping(error)
    }
  }

  @usableFromInline
  func model<Model: NonisolatedDecodable>(_ type: Model.Type, at path: String?, failsOnEmptyData: Bool) throws -> Model
  {
    if path?.isEmpty ?? true, let content = try content(as: type) { return content }
    guard !failsOnEmptyData, isBlank else { return try json().model(type, at: path) }
    var stand = self
    var last: (any Error)?
    for text in ["null", "{}", "[]"] {
      stand.body = Data(text.utf8)
      do { return try stand.json().model(type, at: nil) } catch { last = error }
    }
    throw parseFailure("the body is empty, and \(type) can't be decoded from null, {} or []", underlying: last)
  }

  /// Reads a model as every call does that returns one: from the payload, if the code of its envelope is a success.
  ///
  /// A `BaseResponse` contains its own envelope, so it is decoded from the whole body. An optional model of an empty
  /// body, or of one of blanks and line breaks, is `nil`.
  @usableFromInline
  func payload<Model: NonisolatedDecodable>(_ type: Model.Type) throws -> Model {
    if Model.self == NoContent.self, let nothing = try NoContent.read(self) as? Model { return nothing }
    let isBlank = self.isBlank
    let isNothing = isEmpty || isBlank && Model.self != String?.self && Model.self != Data?.self
    if isNothing, Model.self is any ExpressibleByNilLiteral.Type {
      return try JSON(Data("null".utf8), carrying: reading.with(response: self)).model(type, at: nil)
    }
    // The error of an empty body names it, with or without an envelope.
    if isBlank || JSON.isBaseResponse(type) { return try model(type, at: nil, failsOnEmptyData: true) }
    return try EnvelopeReader(checked(by: nil, mayBeBlank: false)).payload(type)
  }

  /// The numeric code of the backend's envelope in the body, also as a text of digits; `nil` without an envelope or such a
  /// code.
  ///
  /// Interceptors use it to recognize an error that the server reports with status 200.
  public var envelopeCode: Int? {
    let rules = reading.envelope.value
    guard !rules.isNone else { return nil }
    return (try? JSON(parsing: body)).flatMap(rules.numericCode)
  }

  func payload() throws -> JSON { try EnvelopeReader(common()).payload() }

  func model<Model: NonisolatedDecodable>(_ type: Model.Type, inBodyAt path: String?) throws -> Model {
    guard let path else { return try content(as: type) ?? payload(type) }
    return try model(type, at: path, failsOnEmptyData: true)
  }

  /// Whether there is nothing to read (RFC 9110 §15.3.5, §15.3.6).
  var isEmpty: Bool { status == 204 || status == 205 || body.isEmpty && file == nil }

  /// Whether the body has no byte, or only blanks and line breaks, which some servers send in place of nothing.
  private var isBlank: Bool {
    body.withUnsafeBytes { $0.allSatisfy { $0 == 0x20 || $0 == 0x0a || $0 == 0x0d || $0 == 0x09 } }
  }

  /// Returns this response if its status is 200 to 299 and its body is not an envelope that reports a failure.
  @usableFromInline
  package func settled() throws -> Response {
    let rules = reading.envelope
    try validate(by: rules)
    guard !rules.value.isNone, !body.isEmpty else { return self }
    let context = reading.with(response: self, isAccepted: true)
    if let json = try? JSON(body, carrying: context), rules.value.refuses(json) { try rules.check(json) }
    return self
  }

  @usableFromInline
  func decoding(with decoder: (any ModelDecoder)?) -> Response {
    guard let decoder else { return self }
    var copy = self
    copy.context[ResponseContext.self] = reading.with(decoder: decoder)
    return copy
  }

  /// Returns this response if its status is 200 to 299.
  ///
  /// - Throws: `NetworkError` of kind `status` with the status as its code and the server's message, if the body has
  ///   one. See `Envelope.errorMessages`.
  public func validated() throws(NetworkError) -> Response {
    try validate(by: reading.envelope)
    return self
  }

  func validate(by rules: EnvelopeRules) throws(NetworkError) {
    if !isSuccess { throw statusFailure(in: rules.value) }
  }

  private var startOfText: String {
    var start = self
    start.body = body.prefix(4 << 10)
    return (try? start.text()) ?? String(decoding: start.body, as: UTF8.self)
  }

  /// Returns the error of a response whose status is not a success, with the message of its `envelope`.
  package func statusFailure(in envelope: Envelope) -> NetworkError {
    let words = serverWords(in: envelope)
    // Without the query, which may contain tokens.
    let place = url.absoluteString.prefix { $0 != "?" && $0 != "#" }
    var reason = "the server responded to \(lastMethod) \(place) with status \(status)"
    if let text = words ?? excerpt { reason += ": \(text)" }
    // A proxy may have responded (RFC 9110 §15.5.8), but not inside a tunnel.
    if status == 407, url.scheme?.lowercased() == "http" {
      reason += "; if the transport uses a proxy, check its user and password"
    }
    return reading.error(
      .status, reason, code: status, message: words, response: self)
  }

  /// Returns the server's message in the body, by the rules of `envelope`; `nil` if it has none.
  private func serverWords(in envelope: Envelope) -> String? {
    let json = try? JSON(parsing: body)
    return json.map { envelope.words(in: $0) } ?? words(inText: startOfText)
  }

  /// Returns `error`, of a successful response that is not the stream that the call expects, with the server's message.
  func explainingStream(_ error: NetworkError) -> NetworkError {
    var error = error
    error.response = self
    guard let words = serverWords(in: reading.envelope.value) else { return error }
    error.message = words
    error.reason += "; the server's message is \(words.debugDescription)"
    return error
  }

  /// Returns a parse error of this response. It names a content coding that the transport has not decoded.
  func parseFailure(_ reason: String, underlying: (any Error)? = nil) -> NetworkError {
    let coding = remainingCoding.map { "; the body was not decoded from its Content-Encoding \($0.debugDescription)" }
    return reading.error(.parse, reason + (coding ?? ""), response: self, underlying: underlying)
  }

  /// The charset and the length in bytes of the body's byte order mark.
  private var mark: (name: String, encoding: String.Encoding, length: Int)? {
    if body.starts(with: [0xEF, 0xBB, 0xBF]) { return ("utf-8", .utf8, 3) }
    if body.starts(with: [0xFF, 0xFE, 0, 0]) { return ("utf-32le", .utf32LittleEndian, 4) }
    if body.starts(with: [0, 0, 0xFE, 0xFF]) { return ("utf-32be", .utf32BigEndian, 4) }
    if body.starts(with: [0xFE, 0xFF]) { return ("utf-16be", .utf16BigEndian, 2) }
    if body.starts(with: [0xFF, 0xFE]) { return ("utf-16le", .utf16LittleEndian, 2) }
    return nil
  }

  /// The `charset` parameter of `Content-Type`, in lowercase (RFC 9110 §8.3.2).
  private var charset: String? {
    headers["Content-Type"].flatMap { MediaType($0).parameter("charset") }?
      .trimming { $0 == "\"" || $0 == "'" }.lowercased()
  }

  /// The end of the reason of a JSON body that can't be read, if a charset is declared that JSON must not have.
  var remarkOnCharset: String {
    guard let name = charset.unlessEmpty, ![.utf8, .ascii].contains(String.Encoding(label: name)) else { return "" }
    return "; its Content-Type declares the charset \(name.debugDescription), but JSON is UTF-8 (RFC 8259 §8.1)"
  }

  /// The encoding in the declaration of an XML body, `<?xml version="1.0" encoding="…"?>`, in lowercase.
  private var declaredEncoding: String? {
    guard body.starts(with: "<?xml".utf8), let type = headers["Content-Type"].map({ MediaType($0).essence }),
      type == "application/xml" || type == "text/xml" || type.hasSuffix("+xml"),
      let end = body.prefix(1 << 10).firstIndex(of: UInt8(ascii: ">"))
    else { return nil }
    let declaration = String(decoding: body[..<end], as: UTF8.self)
    guard let name = declaration.firstRange(of: "encoding") else { return nil }
    let value = declaration[name.upperBound...].drop { $0 == "=" || $0.isWhitespace }
    guard let quote = value.first, quote == "\"" || quote == "'" else { return nil }
    return value.dropFirst().prefix { $0 != quote }.lowercased()
  }
}

extension JSON {
  /// Parses text from any source. The settings of `Network.default` apply to it.
  init(received data: Data) throws {
    let context = ResponseContext.standard
    do {
      try self.init(data, carrying: context)
    } catch let error as JSONError {
      throw context.error(.parse, error.reason(for: data), underlying: error)
    }
  }
}

extension JSONError {
  /// Returns the description of a body that is not JSON. The most frequent cases are not malformed JSON at all.
  fileprivate func reason(for body: Data, headers: HTTPHeaders = [:], status: Int? = nil) -> String {
    if kind == .empty { return "the body is empty instead of JSON" + (status.map { " (status \($0))" } ?? "") }
    if body.prefix(64).drop(while: { $0 <= 0x20 }).first == UInt8(ascii: "<") {
      return "the body is HTML or XML instead of JSON" + (headers["Content-Type"].map { " (Content-Type \($0))" } ?? "")
    }
    return "the body is not JSON: \(self)"
  }
}

extension Response {
  func model<Model: NonisolatedDecodable>(_ type: Model.Type, ofPart bytes: Data) throws -> Model {
    var part = self
    part.body = bytes
    return try part.model(type, at: nil, failsOnEmptyData: true)
  }

  func failure(_ error: any Error, inPart index: Int, named name: String) -> NetworkError {
    var known = (error as? NetworkError) ?? parseFailure("\(name) \(index): \(error)", underlying: error)
    known.index = index
    return known
  }
}

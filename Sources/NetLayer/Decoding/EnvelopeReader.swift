/// The reader of JSON that its envelope has accepted: the payload, a page, the cursor, a Boolean.
@usableFromInline
struct EnvelopeReader {
  /// The whole JSON, with its envelope.
  private let json: JSON
  // A reference, because an envelope is copied member by member.
  private let rules: EnvelopeRules

  /// Checks the code of the envelope, unless it has been checked.
  ///
  /// - Throws: `NetworkError`: `rejected` with the server's code and message if the code is not a success, `parse` if
  ///   there is no envelope.
  @usableFromInline
  init(_ json: JSON) throws {
    self.json = try json.accepted()
    rules = self.json.reading.envelope
  }

  /// The payload, which may not exist.
  private var payloadJSON: JSON { rules.value.payload(of: json) }
  /// The path of the payload in the response.
  private var payloadPath: [String] { rules.value.data.map(json.codingPath) ?? [] }

  /// Returns the payload.
  func payload() throws -> JSON { try existing(payloadJSON) }

  /// Decodes a model from the payload.
  @usableFromInline
  func payload<Model: NonisolatedDecodable>(_ type: Model.Type) throws -> Model {
    let payloadJSON = payloadJSON
    // An optional model treats an absent payload like null.
    if !payloadJSON.exists, Model.self is any ExpressibleByNilLiteral.Type {
      return try json.model(type, from: .null, below: payloadPath)
    }
    return try json.model(type, from: existing(payloadJSON), below: payloadPath)
  }

  private func existing(_ payload: JSON) throws -> JSON {
    if payload.exists { return payload }
    let lack = rules.value.data.map { "the envelope has no member \($0.debugDescription)" } ?? "there is no JSON"
    throw json.failure(lack, at: payloadPath)
  }

  /// Decodes the payload, or the value at its `path`, as a list with the cursor.
  @usableFromInline
  func page<Item: NonisolatedDecodable>(of type: Item.Type, at path: String? = nil) throws -> Page<Item> {
    let (list, place) = try list(at: path)
    return try page(list, items: json.model([Item].self, from: list, below: place))
  }

  /// Decodes the payload as a list without the items that can't be decoded, and passes their indexes and errors to
  /// `report`.
  func page<Item: NonisolatedDecodable>(
    of type: Item.Type, at path: String? = nil, lossy report: (_ index: Int, _ error: NetworkError) -> Void
  ) throws -> Page<Item> {
    let (list, place) = try list(at: path)
    var items: [Item] = []
    for (index, element) in (list.array ?? []).enumerated() {
      do {
        items.append(try json.model(type, from: element, below: place + [String(index)]))
      } catch let error as NetworkError {
        report(index, error)
      }
    }
    return try page(list, items: items)
  }

  /// Returns the list at `path` of the payload, and the path of the list in the response.
  private func list(at path: String?) throws -> (JSON, [String]) {
    var (list, place) = (payloadJSON, payloadPath)
    if let path, !path.isEmpty {
      let steps = try json.steps(path)
      (list, place) = (list[steps], place + steps.codingPath)
    }
    let name = place.isEmpty ? "the response" : place.joined(separator: ".").debugDescription
    guard list.exists else { throw json.failure("the response has no member \(name)", at: place) }
    guard list.kind == .array else {
      let hint = rules.value.data == nil && path == nil ? "; give the path of the array, as in list(at: \"items\")" : ""
      throw json.failure("\(name) is of type \(list.kind), not an array\(hint)", at: place)
    }
    return (list, place)
  }

  /// Returns a page of `items`, which were decoded from `list`, with the cursor that the envelope names.
  private func page<Item>(_ list: JSON, items: [Item]) throws -> Page<Item> {
    var page = Page(items: items, cursor: try rules.value.cursor.flatMap { try json.value(at: $0).cursor(named: $0) })
    (page.fingerprint, page.response) = (list.textHash, json.reading.response)
    return page
  }

  /// Returns the payload as a Boolean. `false` and 0, also as strings, are `false`. `true`, other numbers, objects, arrays
  /// and a missing payload (absent, null or an empty string) are `true`.
  func bool() throws -> Bool {
    let data = payloadJSON
    // Without an envelope, the status has already decided.
    if rules.value.isNone { return data.bool ?? true }
    switch data.kind {
    case .missing, .null, .object, .array: return true
    case .bool: return data.bool ?? true
    case .number: return data.double != 0
    case .string:
      switch data.string?.lowercased() {
      case "false", "0": return false
      case "true", "1", "": return true
      default:
        let name = (rules.value.data ?? "").debugDescription
        throw json.failure("\(name) is a string that is neither true nor false", at: payloadPath)
      }
    }
  }
}

extension EnvelopeRules {
  /// Checks the code of the envelope in `json`.
  ///
  /// - Throws: As the initializer of ``EnvelopeReader``.
  func check(_ json: JSON) throws(NetworkError) {
    if value.isNone { return }
    guard json.kind == .object else {
      throw json.failure("the response is of type \(json.kind), not an object with an envelope" + Self.remedy, at: [])
    }
    if let code {
      let found = json.value(at: code)
      if !found.exists || !success.accepts(found) { throw failure(of: json, found, at: code) }
    } else if case .failure(let name) = value.form {
      try check(json, failure: name)
    }
  }

  private static let remedy = "; for an API without envelopes, set envelope: .none"

  private func check(_ json: JSON, failure name: String) throws(NetworkError) {
    guard let failure = value.reportedFailure(in: json) else { return }
    let words = value.words(in: json)
    throw json.reading.error(
      .rejected, "the server reported \(name.debugDescription): \(words ?? failure.description.cutWords)",
      code: value.numericCode(in: json), message: words)
  }

  private func failure(of json: JSON, _ code: JSON, at name: String) -> NetworkError {
    guard code.exists else {
      // If the object itself is the payload, `none` would lose the failures.
      let remedy = value.data == nil ? "; if only failures have it, use Envelope(failure:data:)" : Self.remedy
      return json.failure("the envelope has no member \(name.debugDescription)" + remedy, at: [name])
    }
    guard success.reads(code) else {
      return json.failure("\(name.debugDescription) is of type \(code.kind), not a code", at: [name])
    }
    let words = json.value(at: value.message).string ?? ""
    return json.reading.error(
      .rejected, "the server rejected the request with \(name) \(code)" + (words.isEmpty ? "" : ": \(words)"),
      code: code.numeric, message: words.isEmpty ? nil : words)
  }
}

extension JSON {
  /// The coding path of `value(at:)`.
  fileprivate func codingPath(of place: String) -> [String] {
    self[place].exists ? [place] : JSONPath(place)?.codingPath ?? [place]
  }

  /// Returns the same value, checked by its envelope; an accepted value is returned unchanged.
  ///
  /// - Throws: As the initializer of ``EnvelopeReader``.
  func accepted(by chosen: Envelope? = nil) throws -> JSON {
    guard !reading.isAccepted else { return self }
    let context = reading.with(isAccepted: true, by: chosen)
    try context.envelope.check(self)
    return carrying(context)
  }
}

import PortableFoundation

extension JSON {
  /// Returns the same value, checked by its envelope; an accepted value is returned unchanged.
  ///
  /// - Throws: `NetworkError`: `business` with the server's code and message if the code is not a success, `parse` if
  ///   there is no envelope.
  func accepted(by chosen: Envelope? = nil) throws -> JSON {
    guard !reading.isAccepted else { return self }
    let context = reading.with(isAccepted: true, by: chosen)
    try judge(by: context.envelope)
    return carrying(context)
  }

  /// Decodes a model from the payload.
  @usableFromInline
  func payload<Model: NonisolatedDecodable>(_ type: Model.Type) throws -> Model {
    let json = try accepted()
    let data = json.inner
    guard data.exists else {
      // An optional model treats an absent payload like null.
      if Model.self is any ExpressibleByNilLiteral.Type {
        return try json.model(type, from: Self.null, below: json.innerPath)
      }
      throw json.failure("the envelope has no member \(json.rules.value.data.debugDescription)", at: json.innerPath)
    }
    return try json.model(type, from: data, below: json.innerPath)
  }

  /// Returns the payload.
  func payload() throws -> JSON {
    let json = try accepted()
    let data = json.inner
    guard data.exists else {
      throw json.failure("the envelope has no member \(json.rules.value.data.debugDescription)", at: json.innerPath)
    }
    return data
  }

  /// Decodes the payload, or the value at its `path`, as a list with the cursor.
  @usableFromInline
  func page<Item: NonisolatedDecodable>(of type: Item.Type, at path: String? = nil) throws -> Page<Item> {
    let json = try accepted()
    let (data, place) = try json.list(at: path)
    return data.page(items: try json.model([Item].self, from: data, below: place), cursor: try json.cursor())
  }

  /// Decodes the payload as a list without the items that can't be decoded, and passes their indexes and errors to
  /// `report`.
  func page<Item: NonisolatedDecodable>(
    of type: Item.Type, at path: String? = nil, lossy report: (_ index: Int, _ error: NetworkError) -> Void
  ) throws -> Page<Item> {
    let json = try accepted()
    let (data, place) = try json.list(at: path)
    var items: [Item] = []
    for (index, element) in (data.array ?? []).enumerated() {
      do {
        items.append(try json.model(type, from: element, below: place + [String(index)]))
      } catch let error as NetworkError {
        report(index, error)
      }
    }
    return data.page(items: items, cursor: try json.cursor())
  }

  /// Returns the list at `path` of the payload, and the path of the list in the response.
  private func list(at path: String?) throws -> (JSON, [String]) {
    var (data, place) = (inner, innerPath)
    if let path, !path.isEmpty {
      let steps = try steps(path)
      (data, place) = (data[steps], place + steps.codingPath)
    }
    let name = place.isEmpty ? "the response" : place.joined(separator: ".").debugDescription
    guard data.exists else { throw failure("the response has no member \(name)", at: place) }
    guard data.kind == .array else {
      let hint = rules.value.isNone && path == nil ? "; give the path of the array, as in list(at: \"items\")" : ""
      throw failure("\(name) is of type \(data.kind), not an array\(hint)", at: place)
    }
    return (data, place)
  }

  /// The payload.
  private var inner: JSON { rules.value.isNone ? self : self[rules.value.data] }
  /// The path of the payload in the response.
  private var innerPath: [String] { rules.value.isNone ? [] : [rules.value.data] }

  /// Returns the payload as a Boolean. `false`, 0 and their texts are `false`. `true`, other numbers, objects, arrays
  /// and a missing payload (absent, null or an empty string) are `true`.
  func flag() throws -> Bool {
    let json = try accepted()
    // Without an envelope, the status has already decided.
    if json.rules.value.isNone { return json.bool ?? true }
    let name = json.rules.value.data
    let data = json[name]
    switch data.kind {
    case .missing, .null, .object, .array: return true
    case .bool: return data.bool ?? true
    case .number: return data.double != 0
    case .string:
      switch data.string?.lowercased() {
      case "false", "0": return false
      case "true", "1", "": return true
      default: throw json.failure("\(name.debugDescription) is a string that is neither true nor false", at: [name])
      }
    }
  }

  /// Decodes a model from the value at `path`, with or without an envelope.
  @usableFromInline
  func model<Model: NonisolatedDecodable>(_ type: Model.Type, at path: String?) throws -> Model {
    guard let path, !path.isEmpty else { return try model(type, from: self, below: []) }
    let steps = try steps(path)
    let value = self[steps]
    guard value.exists else {
      if Model.self is any ExpressibleByNilLiteral.Type {
        return try model(type, from: Self.null, below: steps.codingPath)
      }
      throw failure("the response has no value at \(path.debugDescription)", at: steps.codingPath)
    }
    return try model(type, from: value, below: steps.codingPath)
  }

  /// Returns a parse error of this response.
  func failure(_ reason: String, at path: [String], underlying: (any Error)? = nil) -> NetworkError {
    reading.error(.parse, reason, underlying: underlying, at: path)
  }

  private var rules: EnvelopeRules { reading.envelope }

  /// Checks the code of the envelope. `rules` is a reference, because an envelope is copied member by member.
  func judge(by rules: EnvelopeRules) throws(NetworkError) {
    if rules.value.isNone { return }
    let remedy = "; for an API without envelopes, set envelope: .none"
    guard kind == .object else {
      throw failure("the response is of type \(kind), not an object with an envelope" + remedy, at: [])
    }
    let code = self[rules.value.code]
    guard code.exists else {
      throw failure("the envelope has no member \(rules.value.code.debugDescription)" + remedy, at: [rules.value.code])
    }
    if rules.value.success.accepts(code) { return }
    guard rules.value.success.reads(code) else {
      throw failure("\(rules.value.code.debugDescription) is of type \(code.kind), not a code", at: [rules.value.code])
    }
    let words = self[rules.value.message].string ?? ""
    throw reading.error(
      .business,
      "the server rejected the request with \(rules.value.code) \(code)" + (words.isEmpty ? "" : ": \(words)"),
      code: code.numeric, message: words.isEmpty ? nil : words)
  }

  /// Returns a page of `items`, which were decoded from this value.
  private func page<Item>(items: [Item], cursor: String?) -> Page<Item> {
    var page = Page(items: items, cursor: cursor)
    page.fingerprint = textHash
    return page
  }

  /// Returns the cursor of the next page, named by the envelope.
  private func cursor() throws -> String? {
    let name = rules.value.cursor
    // Without an envelope, a member of this name belongs to the app.
    return rules.value.isNone ? nil : try self[name].cursor(named: name)
  }

  private func steps(_ path: String) throws -> JSONPath {
    if let steps = JSONPath(path) { return steps }
    throw failure("invalid path \(path.debugDescription); use a path such as data.items[0]", at: [])
  }

  /// Returns the cursor of the next page, at `path` of the whole response.
  func cursor(at path: String) throws -> String? {
    let steps = try steps(path)
    return try self[steps].cursor(named: path)
  }

  /// Returns a string or a number as the cursor; a missing value, null or an empty string means that there is no
  /// further page.
  private func cursor(named name: String) throws -> String? {
    switch kind {
    case .missing, .null: return nil
    case .string:
      guard let text = string else {
        throw failure("\(name.debugDescription) is not valid Unicode", at: [name])
      }
      return text.isEmpty ? nil : text
    case .number: return description
    case .bool, .object, .array:
      throw failure("\(name.debugDescription) is of type \(kind), not a string or number", at: [name])
    }
  }

  private func model<Model: NonisolatedDecodable>(
    _ type: Model.Type, from value: JSON?, below path: @autoclosure () -> [String]
  ) throws -> Model {
    do {
      guard let value else { throw failure("there is no value to decode", at: path()) }
      let model = try value.decode(type, using: reading.decoder)
      if Self.isBaseResponse(type), let judge = model as? any BaseResponse,
        let error = judge.makeCustomError()
      {
        throw businessFailure(error)
      }
      return model
    } catch let error as DecodingError {
      let found = error.place
      let place = path() + found.path
      let name = place.isEmpty ? "the response" : place.joined(separator: ".")
      throw failure("\(name) does not match \(type): \(found.complaint)\(advice)", at: place, underlying: error)
    } catch let error as NetworkError {
      throw error
    } catch {
      throw failure("the decoder failed for \(type): \(error)", at: path(), underlying: error)
    }
  }

  /// The advice for a model that does not match a body which looks like an envelope.
  private var advice: String {
    let usual = Envelope.standard
    guard rules.value.isNone, self[usual.code].exists, self[usual.data].exists || self[usual.message].exists else {
      return ""
    }
    return "; the response looks like an envelope: set envelope: .standard on the backend"
  }

  /// Returns the error of a model that reports its own failure as a `NetworkError`.
  private func businessFailure(_ error: any Error) -> NetworkError {
    guard var known = error as? NetworkError else {
      return reading.error(
        .business, "the response reports a failure: \(error)",
        message: (error as? any LocalizedError)?.errorDescription, underlying: error)
    }
    known.response = known.response ?? reading.response
    known.request = known.request ?? known.response?.request
    return known
  }

  /// Returns whether a model is a `BaseResponse`. The cache makes it cheaper than the cast.
  static func isBaseResponse<Model>(_ type: Model.Type) -> Bool {
    judgesOfThemselves.conforms(Model.self) { Model.self is any BaseResponse.Type }
  }

  /// `null` as a value, for optional models.
  private static let null: JSON? = try? JSON(parsing: "null")
}

/// A cache of whether a model is a `BaseResponse`.
private let judgesOfThemselves = PlainTypes()

extension DecodingError {
  /// The coding path and the description of the error.
  fileprivate var place: (path: [String], complaint: String) {
    let context: Context
    var path: [any CodingKey]
    switch self {
    case .typeMismatch(_, let found), .valueNotFound(_, let found), .dataCorrupted(let found):
      context = found
      path = found.codingPath
    case .keyNotFound(let key, let found):
      context = found
      path = found.codingPath + [key]
    @unknown default:
      return ([], "\(self)")
    }
    return (path.map { $0.intValue.map(String.init) ?? $0.stringValue }, context.debugDescription)
  }
}

import PortableFoundation

extension JSON {
  @usableFromInline
  func model<Model: NonisolatedDecodable>(_ type: Model.Type, at path: String?) throws -> Model {
    guard let path, !path.isEmpty else { return try model(type, from: self, below: []) }
    let steps = try steps(path)
    let value = self[steps]
    guard value.exists else {
      if Model.self is any ExpressibleByNilLiteral.Type {
        return try model(type, from: .null, below: steps.codingPath)
      }
      throw failure("the response has no value at \(path.debugDescription)", at: steps.codingPath)
    }
    return try model(type, from: value, below: steps.codingPath)
  }

  func failure(_ reason: String, at path: [String], underlying: (any Error)? = nil) -> NetworkError {
    reading.error(.parse, reason, underlying: underlying, at: path)
  }

  func steps(_ path: String) throws -> JSONPath {
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
  func cursor(named name: String) throws -> String? {
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

  func model<Model: NonisolatedDecodable>(
    _ type: Model.Type, from value: JSON?, below path: @autoclosure () -> [String]
  ) throws -> Model {
    do {
      guard let value, value.exists else { throw failure("there is no value to decode", at: path()) }
      let model = try reading.decoder.decode(type, from: value)
      if Self.isBaseResponse(type), let own = model as? any BaseResponse,
        let error = own.makeCustomError()
      {
        throw rejection(error)
      }
      return model
    } catch let error as DecodingError {
      let found = error.place
      let place = path() + found.path
      let name = place.isEmpty ? "the response" : place.joined(separator: ".")
      let remark = found.description.contains("UTF-8") ? reading.response?.remarkOnCharset ?? "" : ""
      throw failure(
        "\(name) does not match \(type): \(found.description)\(advice)\(remark)", at: place, underlying: error)
    } catch let error as NetworkError {
      throw error
    } catch {
      throw failure("the decoder failed for \(type): \(error)", at: path(), underlying: error)
    }
  }

  /// The advice for a model that does not match a body which looks like an envelope.
  private var advice: String {
    guard reading.envelope.value.isNone else { return "" }
    if self["errors"].kind == .array, Envelope.graphQL.refuses(self) {
      return "; the response looks like that of GraphQL: set envelope: .graphQL on the backend"
    }
    guard self["code"].exists, self["data"].exists || self["message"].exists else { return "" }
    return "; the response looks like an envelope: set envelope: .standard on the backend"
  }

  /// Returns the error of a model that reports its own failure as a `NetworkError`.
  private func rejection(_ error: any Error) -> NetworkError {
    guard var known = error as? NetworkError else {
      return reading.error(
        .rejected, "the response reports a failure: \(error)",
        message: (error as? any LocalizedError)?.errorDescription, underlying: error)
    }
    known.response = known.response ?? reading.response
    known.request = known.request ?? known.response?.request
    return known
  }

  /// Returns whether a model is a `BaseResponse`. The cache makes it cheaper than the cast.
  static func isBaseResponse<Model>(_ type: Model.Type) -> Bool {
    baseResponses.conforms(Model.self) { Model.self is any BaseResponse.Type }
  }

  static let null: JSON? = try? JSON(parsing: "null")
}

private let baseResponses = PlainTypes()

extension DecodingError {
  fileprivate var place: (path: [String], description: String) {
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

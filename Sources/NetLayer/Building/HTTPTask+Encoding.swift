import PortableFoundation

/// The encoders of a backend, shared by all its requests.
package final class EncodingConventions: Sendable {
  let json: JSONParameterEncoder
  let query: URLParameterEncoder
  let parameters: any ParameterEncoder

  init(
    json: JSONParameterEncoder = JSONParameterEncoder(), query: URLParameterEncoder = URLParameterEncoder(),
    parameters: any ParameterEncoder = .json
  ) {
    (self.json, self.parameters) = (json, parameters)
    self.query = query.writing(to: .query)
  }

  /// Returns the encoder of a request's parameters: `chosen` by the call, or the backend's for this method.
  func encoder(_ chosen: (any ParameterEncoder)?, for method: HTTPMethod) -> any ParameterEncoder {
    guard let encoder = chosen ?? (method.putsParametersInURL ? nil : parameters) else { return query }
    if let pairs = encoder as? URLParameterEncoder, pairs.isBackends { return query.writing(to: pairs.destination) }
    return (encoder as? JSONParameterEncoder)?.isBackends == true ? json : encoder
  }
}

/// An encoder that adds a task and the backend's common parameters to a request.
struct TaskEncoder {
  var task: HTTPTask
  var common: Parameters
  var conventions = EncodingConventions()

  func encode(into request: inout Request) throws {
    switch task.kind {
    case .none:
      try encode(common, nil, into: &request)
    case .data(let data, let contentType):
      try encodeBody(.data(data), contentType, into: &request)
    case .parameters(let own, let encoding):
      try encode(own.over(common), encoding, into: &request)
    case .composite(let query, let body, let encoding):
      try conventions.query.encode(query.over(common), into: &request)
      try encode(body, encoding ?? conventions.parameters, into: &request)
    case .json(let value):
      try conventions.json.encode(Parameters(value).over(common), into: &request)
    case .form(let own):
      try conventions.query.writing(to: .body).encode(own.over(common), into: &request)
    case .multipart(let form):
      try form.encode(over: common, as: conventions.query, into: &request)
    case .query(let query, let task):
      try conventions.query.encode(query.over(common), into: &request)
      try TaskEncoder(task: task, common: [:], conventions: conventions).encode(into: &request)
    case .upload(let file, let contentType):
      try BodyFile.check(file)
      let type = contentType.unlessEmpty ?? MIMEType.ofFile(named: file.lastPathComponent)
      try encodeBody(.file(file), type, into: &request)
    case .stream(let stream, let contentType):
      try encodeBody(.stream(stream), contentType, into: &request)
    case .lines(let lines):
      try encodeBody(.stream(lines.body(conventions.json)), "application/x-ndjson", into: &request)
    case .download(let file, let own, let encoding):
      try encode(own.over(common), encoding, into: &request)
      request.destination = file
    }
  }

  /// Returns the sorted names and values for a signer, without content that has no names, such as a JSON array.
  func pairs(for method: HTTPMethod) throws -> [(name: String, value: String)] {
    let pairs: [(name: String, value: String)]
    switch task.kind {
    case .none: pairs = try named(common, as: conventions.encoder(nil, for: method))
    case .data, .upload, .stream, .lines: pairs = try named(common)
    case .parameters(let own, let encoding), .download(_, let own, let encoding):
      pairs = try named(own.over(common), as: conventions.encoder(encoding, for: method))
    case .composite(let query, let body, let encoding):
      pairs =
        try named(query.over(common))
        + named(body, as: conventions.encoder(encoding ?? conventions.parameters, for: method))
    case .query(let query, let task):
      let inner = TaskEncoder(task: task, common: [:], conventions: conventions)
      pairs = try named(query.over(common)) + inner.pairs(for: method)
    case .json(let value): pairs = try named(Parameters(value).over(common), as: conventions.json)
    case .form(let own): pairs = try named(own.over(common))
    case .multipart(let form):
      pairs =
        try form.fields(over: common, as: conventions.query)
        + form.parts.compactMap { part in
          guard part.filename == nil, case .data(let data) = part.content else { return nil }
          return (part.name, String(decoding: data, as: UTF8.self))
        }
    }
    return pairs.sorted { ($0.name, $0.value) < ($1.name, $1.value) }
  }

  private func encode(
    _ parameters: Parameters, _ encoding: (any ParameterEncoder)?, into request: inout Request
  ) throws {
    // The caller did not ask for an empty object, and most calls have no parameters at all.
    let mayBeNothing = request.method.putsParametersInURL || conventions.parameters is JSONParameterEncoder
    if encoding == nil, mayBeNothing, parameters.isEmpty { return }
    try conventions.encoder(encoding, for: request.method).encode(parameters, into: &request)
  }

  private func named(
    _ parameters: Parameters, as encoding: (any ParameterEncoder)? = nil
  ) throws -> [(name: String, value: String)] {
    var encoder = encoding as? URLParameterEncoder ?? conventions.query
    if let json = encoding as? JSONParameterEncoder {
      (encoder.dates, encoder.data, encoder.keys) = (json.dates, json.data, json.keys)
      encoder.keepsDataKeys = true
    }
    do {
      return try encoder.pairs(of: parameters)
    } catch let error as NetworkError where error.codingPath.isEmpty && error.underlying == nil {
      // The content has no names; only the common parameters do.
      return try encoder.pairs(of: common)
    }
  }

  private func encodeBody(_ body: Request.Body, _ contentType: String?, into request: inout Request) throws {
    try conventions.query.encode(common, into: &request)
    request.body = body
    guard let type = contentType.unlessEmpty, request.headers["Content-Type"] == nil else { return }
    request.headers["Content-Type"] = type
  }
}

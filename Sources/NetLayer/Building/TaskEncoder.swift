import Foundation

/// Puts a task and the back end's common parameters into a request (article rows 0.8, 2.5, 2.13).
struct TaskEncoder {
  var task: HTTPTask
  var common: Parameters

  /// - Throws: `NetworkError` of kind `encoding`, or what an encoder of the user's throws.
  func encode(into request: inout Request) throws {
    switch task {
    case .plain:
      try URLParameterEncoder().encode(common, into: &request)
    case .data(let data, let contentType):
      try encodeBody(.data(data), contentType, into: &request)
    case .parameters(let own, let encoding):
      try encoding.encode(own.over(common), into: &request)
    case .composite(let query, let body, let encoding):
      try URLParameterEncoder(destination: .query).encode(query.over(common), into: &request)
      try encoding.encode(body, into: &request)
    case .json(let value):
      try JSONParameterEncoder().encode(Parameters(value).over(common), into: &request)
    case .form(let own):
      try URLParameterEncoder(destination: .body).encode(own.over(common), into: &request)
    case .multipart(let form):
      try form.encode(over: common, into: &request)
    case .query(let query, let task):
      try URLParameterEncoder(destination: .query).encode(query.over(common), into: &request)
      try TaskEncoder(task: task, common: [:]).encode(into: &request)
    case .upload(let file, let contentType):
      try BodyFile.check(file)
      let type = contentType.unlessEmpty ?? MIMEType.ofFile(named: file.lastPathComponent)
      try encodeBody(.file(file), type, into: &request)
    case .stream(let stream, let contentType):
      try encodeBody(.stream(stream), contentType, into: &request)
    case .download(let file, let own, let encoding):
      try encoding.encode(own.over(common), into: &request)
      request.destination = file
    }
  }

  /// The names and values that a signer sees, sorted. What has no names, such as a JSON array, is not among them.
  func pairs() throws -> [(name: String, value: String)] {
    let pairs: [(name: String, value: String)]
    switch task {
    case .plain, .data, .upload, .stream: pairs = try named(common)
    case .parameters(let own, let encoding), .download(_, let own, let encoding):
      pairs = try named(own.over(common), as: encoding)
    case .composite(let query, let body, let encoding):
      pairs = try named(query.over(common)) + named(body, as: encoding)
    case .query(let query, let task):
      pairs = try named(query.over(common)) + TaskEncoder(task: task, common: [:]).pairs()
    case .json(let value): pairs = try named(Parameters(value).over(common))
    case .form(let own): pairs = try named(own.over(common))
    case .multipart(let form):
      pairs =
        try form.fields(over: common)
        + form.parts.compactMap { part in
          guard part.filename == nil, case .data(let data) = part.content else { return nil }
          return (part.name, String(decoding: data, as: UTF8.self))
        }
    }
    return pairs.sorted { ($0.name, $0.value) < ($1.name, $1.value) }
  }

  private func named(
    _ parameters: Parameters, as encoding: any ParameterEncoder = .url
  ) throws -> [(name: String, value: String)] {
    let encoder = encoding as? URLParameterEncoder ?? URLParameterEncoder()
    do {
      return try encoder.pairs(of: parameters)
    } catch let error as NetworkError where error.codingPath.isEmpty && error.underlying == nil {
      // Without names: only the common ones have some.
      return try encoder.pairs(of: common)
    }
  }

  private func encodeBody(_ body: Request.Body, _ contentType: String?, into request: inout Request) throws {
    try URLParameterEncoder(destination: .query).encode(common, into: &request)
    request.body = body
    guard let type = contentType.unlessEmpty, request.headers["Content-Type"] == nil else { return }
    request.headers["Content-Type"] = type
  }
}

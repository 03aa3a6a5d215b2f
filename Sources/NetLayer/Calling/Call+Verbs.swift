import PortableFoundation

// On endpoints, so that `.get("/users")` can be written wherever an endpoint is taken.
extension Endpoint where Self == Call {
  /// A GET with `query` in its URL.
  public static func get(_ url: some URLConvertible, query: Parameters = [:], headers: HTTPHeaders = [:]) -> Call {
    Call(.get, url, query, .plain, headers)
  }

  /// A HEAD with `query` in its URL.
  public static func head(_ url: some URLConvertible, query: Parameters = [:], headers: HTTPHeaders = [:]) -> Call {
    Call(.head, url, query, .plain, headers)
  }

  /// A DELETE with `query` in its URL.
  public static func delete(_ url: some URLConvertible, query: Parameters = [:], headers: HTTPHeaders = [:]) -> Call {
    Call(.delete, url, query, .plain, headers)
  }

  /// A POST without a body of its own.
  public static func post(_ url: some URLConvertible, query: Parameters = [:], headers: HTTPHeaders = [:]) -> Call {
    Call(.post, url, query, .plain, headers)
  }

  /// A POST of a model as JSON, as the back end's `encoder` writes it; a literal may mix types, and its `nil`s are left out.
  public static func post(
    _ url: some URLConvertible, json: Parameters, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call {
    Call(.post, url, query, .json(json), headers)
  }

  /// A POST of a model as JSON, as the back end's `encoder` writes it.
  @_disfavoredOverload
  public static func post(
    _ url: some URLConvertible, json: some Sendable & Encodable, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call {
    Call(.post, url, query, .json(json), headers)
  }

  /// A POST of a form (`application/x-www-form-urlencoded`).
  public static func post(
    _ url: some URLConvertible, form: Parameters, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call {
    Call(.post, url, query, .form(form), headers)
  }

  /// A POST of bytes of a type.
  public static func post(
    _ url: some URLConvertible, body: Data, contentType: String, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call {
    Call(.post, url, query, .data(body, contentType: contentType), headers)
  }

  /// A POST of newline-delimited JSON, made while it is sent.
  public static func post(
    _ url: some URLConvertible, lines: JSONLines, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call {
    Call(.post, url, query, .lines(lines), headers)
  }

  /// A PUT without a body of its own.
  public static func put(_ url: some URLConvertible, query: Parameters = [:], headers: HTTPHeaders = [:]) -> Call {
    Call(.put, url, query, .plain, headers)
  }

  /// A PUT of a model as JSON, as the back end's `encoder` writes it; a literal may mix types, and its `nil`s are left out.
  public static func put(
    _ url: some URLConvertible, json: Parameters, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call {
    Call(.put, url, query, .json(json), headers)
  }

  /// A PUT of a model as JSON, as the back end's `encoder` writes it.
  @_disfavoredOverload
  public static func put(
    _ url: some URLConvertible, json: some Sendable & Encodable, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call {
    Call(.put, url, query, .json(json), headers)
  }

  /// A PUT of a form (`application/x-www-form-urlencoded`).
  public static func put(
    _ url: some URLConvertible, form: Parameters, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call {
    Call(.put, url, query, .form(form), headers)
  }

  /// A PUT of bytes of a type.
  public static func put(
    _ url: some URLConvertible, body: Data, contentType: String, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call {
    Call(.put, url, query, .data(body, contentType: contentType), headers)
  }

  /// A PATCH without a body of its own.
  public static func patch(_ url: some URLConvertible, query: Parameters = [:], headers: HTTPHeaders = [:]) -> Call {
    Call(.patch, url, query, .plain, headers)
  }

  /// A PATCH of a model as JSON, as the back end's `encoder` writes it; a literal may mix types, and its `nil`s are left out.
  public static func patch(
    _ url: some URLConvertible, json: Parameters, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call {
    Call(.patch, url, query, .json(json), headers)
  }

  /// A PATCH of a model as JSON, as the back end's `encoder` writes it.
  @_disfavoredOverload
  public static func patch(
    _ url: some URLConvertible, json: some Sendable & Encodable, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call {
    Call(.patch, url, query, .json(json), headers)
  }

  /// A PATCH of a form (`application/x-www-form-urlencoded`).
  public static func patch(
    _ url: some URLConvertible, form: Parameters, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call {
    Call(.patch, url, query, .form(form), headers)
  }

  /// A PATCH of bytes of a type.
  public static func patch(
    _ url: some URLConvertible, body: Data, contentType: String, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call {
    Call(.patch, url, query, .data(body, contentType: contentType), headers)
  }

  /// An upload of a file as the body, streamed from disk; its type is that of its extension, unless given.
  public static func upload(
    _ url: some URLConvertible, file: URL, contentType: String? = nil, method: HTTPMethod = .post,
    query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call {
    Call(method, url, query, .upload(file, contentType: contentType), headers)
  }

  /// An upload of fields, data and files as `multipart/form-data`.
  public static func upload(
    _ url: some URLConvertible, form: MultipartForm, method: HTTPMethod = .post, query: Parameters = [:],
    headers: HTTPHeaders = [:]
  ) -> Call {
    Call(method, url, query, .multipart(form), headers)
  }
}

extension Call {
  fileprivate init(
    _ method: HTTPMethod, _ url: some URLConvertible, _ query: Parameters, _ task: HTTPTask, _ headers: HTTPHeaders
  ) {
    self.init(method, url, task: query.isEmpty ? task : .query(query, task), headers: headers)
  }
}

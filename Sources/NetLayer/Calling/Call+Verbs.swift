import PortableFoundation

// Declared on endpoints, so that `.get("/users")` works wherever a function takes an endpoint.
extension Endpoint where Self == Call<Response> {
  /// Creates a GET call with `query` in its URL.
  public static func get(_ url: some URLConvertible, query: Parameters = [:], headers: HTTPHeaders = [:]) -> Call<
    Response
  > {
    Call(.get, url, query, .plain, headers)
  }

  /// Creates a HEAD call with `query` in its URL.
  public static func head(_ url: some URLConvertible, query: Parameters = [:], headers: HTTPHeaders = [:]) -> Call<
    Response
  > {
    Call(.head, url, query, .plain, headers)
  }

  /// Creates a DELETE call with `query` in its URL.
  public static func delete(_ url: some URLConvertible, query: Parameters = [:], headers: HTTPHeaders = [:]) -> Call<
    Response
  > {
    Call(.delete, url, query, .plain, headers)
  }

  /// Creates a POST call without a body.
  public static func post(_ url: some URLConvertible, query: Parameters = [:], headers: HTTPHeaders = [:]) -> Call<
    Response
  > {
    Call(.post, url, query, .plain, headers)
  }

  /// Creates a POST call with parameters in its body, encoded by the backend's `bodyEncoding`: as JSON by default. A literal
  /// may mix types; `nil` values are omitted.
  public static func post(
    _ url: some URLConvertible, parameters: Parameters, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.post, url, query, .parameters(parameters), headers)
  }

  /// Creates a POST call with a model as its JSON body, written by the backend's `encoder`.
  public static func post(
    _ url: some URLConvertible, json: some Sendable & Encodable, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.post, url, query, .json(json), headers)
  }

  /// Creates a POST call with a form (`application/x-www-form-urlencoded`).
  public static func post(
    _ url: some URLConvertible, form: Parameters, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.post, url, query, .form(form), headers)
  }

  /// Creates a POST call with bytes of `contentType`.
  public static func post(
    _ url: some URLConvertible, body: Data, contentType: String, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.post, url, query, .data(body, contentType: contentType), headers)
  }

  /// Creates a POST call with newline-delimited JSON that is generated during the upload.
  public static func post(
    _ url: some URLConvertible, lines: JSONLines, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.post, url, query, .lines(lines), headers)
  }

  /// Creates a POST call with fields, data and files as `multipart/form-data`.
  public static func post(
    _ url: some URLConvertible, multipart: MultipartForm, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.post, url, query, .multipart(multipart), headers)
  }

  /// Creates a POST call with a file as its body, streamed from disk. The default content type depends on the file's
  /// extension.
  public static func post(
    _ url: some URLConvertible, file: URL, contentType: String? = nil, query: Parameters = [:],
    headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.post, url, query, .upload(file, contentType: contentType), headers)
  }

  /// Creates a PUT call without a body.
  public static func put(_ url: some URLConvertible, query: Parameters = [:], headers: HTTPHeaders = [:]) -> Call<
    Response
  > {
    Call(.put, url, query, .plain, headers)
  }

  /// Creates a PUT call with parameters in its body, encoded by the backend's `bodyEncoding`: as JSON by default. A literal
  /// may mix types; `nil` values are omitted.
  public static func put(
    _ url: some URLConvertible, parameters: Parameters, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.put, url, query, .parameters(parameters), headers)
  }

  /// Creates a PUT call with a model as its JSON body, written by the backend's `encoder`.
  public static func put(
    _ url: some URLConvertible, json: some Sendable & Encodable, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.put, url, query, .json(json), headers)
  }

  /// Creates a PUT call with a form (`application/x-www-form-urlencoded`).
  public static func put(
    _ url: some URLConvertible, form: Parameters, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.put, url, query, .form(form), headers)
  }

  /// Creates a PUT call with bytes of `contentType`.
  public static func put(
    _ url: some URLConvertible, body: Data, contentType: String, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.put, url, query, .data(body, contentType: contentType), headers)
  }

  /// Creates a PUT call with a file as its body, streamed from disk. The default content type depends on the file's
  /// extension.
  public static func put(
    _ url: some URLConvertible, file: URL, contentType: String? = nil, query: Parameters = [:],
    headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.put, url, query, .upload(file, contentType: contentType), headers)
  }

  /// Creates a PATCH call without a body.
  public static func patch(_ url: some URLConvertible, query: Parameters = [:], headers: HTTPHeaders = [:]) -> Call<
    Response
  > {
    Call(.patch, url, query, .plain, headers)
  }

  /// Creates a PATCH call with parameters in its body, encoded by the backend's `bodyEncoding`: as JSON by default. A literal
  /// may mix types; `nil` values are omitted.
  public static func patch(
    _ url: some URLConvertible, parameters: Parameters, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.patch, url, query, .parameters(parameters), headers)
  }

  /// Creates a PATCH call with a model as its JSON body, written by the backend's `encoder`.
  public static func patch(
    _ url: some URLConvertible, json: some Sendable & Encodable, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.patch, url, query, .json(json), headers)
  }

  /// Creates a PATCH call with a form (`application/x-www-form-urlencoded`).
  public static func patch(
    _ url: some URLConvertible, form: Parameters, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.patch, url, query, .form(form), headers)
  }

  /// Creates a PATCH call with bytes of `contentType`.
  public static func patch(
    _ url: some URLConvertible, body: Data, contentType: String, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.patch, url, query, .data(body, contentType: contentType), headers)
  }
}

extension Call where Output == Response {
  fileprivate init(
    _ method: HTTPMethod, _ url: some URLConvertible, _ query: Parameters, _ task: HTTPTask, _ headers: HTTPHeaders
  ) {
    self.init(method, url, task: query.isEmpty ? task : .query(query, task), headers: headers)
  }
}

import PortableFoundation

// Declared on endpoints, so that `.get("/users")` works wherever a function takes an endpoint.
extension Endpoint where Self == Call<Response> {
  /// Creates a GET call with `query` in its URL.
  public static func get(_ url: some URLConvertible, query: Parameters = [:], headers: HTTPHeaders = [:]) -> Call<
    Response
  > {
    Call(.get, url, query: query, headers: headers)
  }

  /// Creates a HEAD call with `query` in its URL.
  public static func head(_ url: some URLConvertible, query: Parameters = [:], headers: HTTPHeaders = [:]) -> Call<
    Response
  > {
    Call(.head, url, query: query, headers: headers)
  }

  /// Creates a DELETE call with `query` in its URL.
  public static func delete(_ url: some URLConvertible, query: Parameters = [:], headers: HTTPHeaders = [:]) -> Call<
    Response
  > {
    Call(.delete, url, query: query, headers: headers)
  }

  /// Creates a DELETE call with a model as its JSON body, written by the backend's `encoder`.
  public static func delete(
    _ url: some URLConvertible, json: some Sendable & Encodable, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.delete, url, task: .json(json), query: query, headers: headers)
  }

  /// Creates an OPTIONS call with `query` in its URL.
  public static func options(_ url: some URLConvertible, query: Parameters = [:], headers: HTTPHeaders = [:]) -> Call<
    Response
  > {
    Call(.options, url, query: query, headers: headers)
  }

  /// Creates a POST call without a body.
  public static func post(_ url: some URLConvertible, query: Parameters = [:], headers: HTTPHeaders = [:]) -> Call<
    Response
  > {
    Call(.post, url, query: query, headers: headers)
  }

  /// Creates a POST call with parameters in its body, encoded by the backend's `bodyEncoding`: as JSON by default. A literal
  /// may mix types; `nil` values are omitted.
  public static func post(
    _ url: some URLConvertible, parameters: Parameters, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.post, url, task: .parameters(parameters), query: query, headers: headers)
  }

  /// Creates a POST call with a model as its JSON body, written by the backend's `encoder`.
  public static func post(
    _ url: some URLConvertible, json: some Sendable & Encodable, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.post, url, task: .json(json), query: query, headers: headers)
  }

  /// Creates a POST call with a form (`application/x-www-form-urlencoded`).
  public static func post(
    _ url: some URLConvertible, form: Parameters, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.post, url, task: .form(form), query: query, headers: headers)
  }

  /// Creates a POST call with bytes of `contentType`.
  public static func post(
    _ url: some URLConvertible, body: Data, contentType: String, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.post, url, task: .data(body, contentType: contentType), query: query, headers: headers)
  }

  /// Creates a POST call with newline-delimited JSON that is generated during the upload.
  public static func post(
    _ url: some URLConvertible, lines: JSONLines, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.post, url, task: .lines(lines), query: query, headers: headers)
  }

  /// Creates a POST call with a body of `contentType` that is generated during the upload.
  public static func post(
    _ url: some URLConvertible, stream: Request.BodyStream, contentType: String, query: Parameters = [:],
    headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.post, url, task: .stream(stream, contentType: contentType), query: query, headers: headers)
  }

  /// Creates a POST call with fields, data and files as `multipart/form-data`.
  public static func post(
    _ url: some URLConvertible, multipart: MultipartForm, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.post, url, task: .multipart(multipart), query: query, headers: headers)
  }

  /// Creates a POST call with a file as its body, streamed from disk. The default content type depends on the file's
  /// extension.
  public static func post(
    _ url: some URLConvertible, file: URL, contentType: String? = nil, query: Parameters = [:],
    headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.post, url, task: .upload(file, contentType: contentType), query: query, headers: headers)
  }

  /// Creates a PUT call without a body.
  public static func put(_ url: some URLConvertible, query: Parameters = [:], headers: HTTPHeaders = [:]) -> Call<
    Response
  > {
    Call(.put, url, query: query, headers: headers)
  }

  /// Creates a PUT call with parameters in its body, encoded by the backend's `bodyEncoding`: as JSON by default. A literal
  /// may mix types; `nil` values are omitted.
  public static func put(
    _ url: some URLConvertible, parameters: Parameters, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.put, url, task: .parameters(parameters), query: query, headers: headers)
  }

  /// Creates a PUT call with a model as its JSON body, written by the backend's `encoder`.
  public static func put(
    _ url: some URLConvertible, json: some Sendable & Encodable, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.put, url, task: .json(json), query: query, headers: headers)
  }

  /// Creates a PUT call with a form (`application/x-www-form-urlencoded`).
  public static func put(
    _ url: some URLConvertible, form: Parameters, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.put, url, task: .form(form), query: query, headers: headers)
  }

  /// Creates a PUT call with bytes of `contentType`.
  public static func put(
    _ url: some URLConvertible, body: Data, contentType: String, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.put, url, task: .data(body, contentType: contentType), query: query, headers: headers)
  }

  /// Creates a PUT call with newline-delimited JSON that is generated during the upload.
  public static func put(
    _ url: some URLConvertible, lines: JSONLines, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.put, url, task: .lines(lines), query: query, headers: headers)
  }

  /// Creates a PUT call with a body of `contentType` that is generated during the upload.
  public static func put(
    _ url: some URLConvertible, stream: Request.BodyStream, contentType: String, query: Parameters = [:],
    headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.put, url, task: .stream(stream, contentType: contentType), query: query, headers: headers)
  }

  /// Creates a PUT call with fields, data and files as `multipart/form-data`.
  public static func put(
    _ url: some URLConvertible, multipart: MultipartForm, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.put, url, task: .multipart(multipart), query: query, headers: headers)
  }

  /// Creates a PUT call with a file as its body, streamed from disk. The default content type depends on the file's
  /// extension.
  public static func put(
    _ url: some URLConvertible, file: URL, contentType: String? = nil, query: Parameters = [:],
    headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.put, url, task: .upload(file, contentType: contentType), query: query, headers: headers)
  }

  /// Creates a PATCH call without a body.
  public static func patch(_ url: some URLConvertible, query: Parameters = [:], headers: HTTPHeaders = [:]) -> Call<
    Response
  > {
    Call(.patch, url, query: query, headers: headers)
  }

  /// Creates a PATCH call with parameters in its body, encoded by the backend's `bodyEncoding`: as JSON by default. A literal
  /// may mix types; `nil` values are omitted.
  public static func patch(
    _ url: some URLConvertible, parameters: Parameters, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.patch, url, task: .parameters(parameters), query: query, headers: headers)
  }

  /// Creates a PATCH call with a model as its JSON body, written by the backend's `encoder`.
  public static func patch(
    _ url: some URLConvertible, json: some Sendable & Encodable, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.patch, url, task: .json(json), query: query, headers: headers)
  }

  /// Creates a PATCH call with a form (`application/x-www-form-urlencoded`).
  public static func patch(
    _ url: some URLConvertible, form: Parameters, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.patch, url, task: .form(form), query: query, headers: headers)
  }

  /// Creates a PATCH call with bytes of `contentType`.
  public static func patch(
    _ url: some URLConvertible, body: Data, contentType: String, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.patch, url, task: .data(body, contentType: contentType), query: query, headers: headers)
  }

  /// Creates a PATCH call with newline-delimited JSON that is generated during the upload.
  public static func patch(
    _ url: some URLConvertible, lines: JSONLines, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.patch, url, task: .lines(lines), query: query, headers: headers)
  }

  /// Creates a PATCH call with a body of `contentType` that is generated during the upload.
  public static func patch(
    _ url: some URLConvertible, stream: Request.BodyStream, contentType: String, query: Parameters = [:],
    headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.patch, url, task: .stream(stream, contentType: contentType), query: query, headers: headers)
  }

  /// Creates a PATCH call with fields, data and files as `multipart/form-data`.
  public static func patch(
    _ url: some URLConvertible, multipart: MultipartForm, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.patch, url, task: .multipart(multipart), query: query, headers: headers)
  }
}

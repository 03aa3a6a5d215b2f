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

  /// Creates a DELETE call with a JSON literal as its body, which may mix types and nest; `nil` is null.
  @_disfavoredOverload
  public static func delete(
    _ url: some URLConvertible, json: JSON, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Self { Call(.delete, url, task: .json(json), query: query, headers: headers) }

  /// Creates an OPTIONS call with `query` in its URL.
  public static func options(_ url: some URLConvertible, query: Parameters = [:], headers: HTTPHeaders = [:]) -> Call<
    Response
  > {
    Call(.options, url, query: query, headers: headers)
  }

  /// Creates a POST call with any content, such as `.multipart(form)` or `.upload(file)`; without a body by default.
  public static func post(
    _ url: some URLConvertible, _ content: HTTPTask = .none, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.post, url, task: content, query: query, headers: headers)
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

  /// Creates a POST call with a JSON literal as its body, which may mix types and nest; `nil` is null.
  @_disfavoredOverload
  public static func post(
    _ url: some URLConvertible, json: JSON, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Self { Call(.post, url, task: .json(json), query: query, headers: headers) }

  /// Creates a POST call with a form (`application/x-www-form-urlencoded`).
  public static func post(
    _ url: some URLConvertible, form: Parameters, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.post, url, task: .form(form), query: query, headers: headers)
  }

  /// Creates a PUT call with any content, such as `.multipart(form)` or `.upload(file)`; without a body by default.
  public static func put(
    _ url: some URLConvertible, _ content: HTTPTask = .none, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.put, url, task: content, query: query, headers: headers)
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

  /// Creates a PUT call with a JSON literal as its body, which may mix types and nest; `nil` is null.
  @_disfavoredOverload
  public static func put(
    _ url: some URLConvertible, json: JSON, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Self { Call(.put, url, task: .json(json), query: query, headers: headers) }

  /// Creates a PUT call with a form (`application/x-www-form-urlencoded`).
  public static func put(
    _ url: some URLConvertible, form: Parameters, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.put, url, task: .form(form), query: query, headers: headers)
  }

  /// Creates a PATCH call with any content, such as `.multipart(form)` or `.upload(file)`; without a body by default.
  public static func patch(
    _ url: some URLConvertible, _ content: HTTPTask = .none, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.patch, url, task: content, query: query, headers: headers)
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

  /// Creates a PATCH call with a JSON literal as its body, which may mix types and nest; `nil` is null.
  @_disfavoredOverload
  public static func patch(
    _ url: some URLConvertible, json: JSON, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Self { Call(.patch, url, task: .json(json), query: query, headers: headers) }

  /// Creates a PATCH call with a form (`application/x-www-form-urlencoded`).
  public static func patch(
    _ url: some URLConvertible, form: Parameters, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call<Response> {
    Call(.patch, url, task: .form(form), query: query, headers: headers)
  }
}

// Mistakes for which the compiler's own message would not name the remedy. Functions that match the labels of others return
// `Self`: otherwise, the compiler rejects a modifier after the verb.
extension Endpoint where Self == Call<Response> {
  /// Unavailable: pass a model as `json:`, and other content as a value, as in `.post(url, .data(bytes))`.
  @available(
    *, unavailable,
    message: """
      pass a model as json:, and other content as a value: .multipart(form), .upload(file), \
      .data(bytes, contentType: type), .stream(body, contentType: type) or .lines(rows)
      """
  )
  public static func post(
    _ url: some URLConvertible, body: Any, contentType: String? = nil, query: Parameters = [:],
    headers: HTTPHeaders = [:]
  ) -> Call<Response> { fatalError("unavailable") }

  /// Unavailable: pass the form as a value, as in `.post(url, .multipart(form))`.
  @available(
    *, unavailable,
    message: """
      pass a model as json:, and other content as a value: .multipart(form), .upload(file), \
      .data(bytes, contentType: type), .stream(body, contentType: type) or .lines(rows)
      """
  )
  public static func post(
    _ url: some URLConvertible, multipart: MultipartForm, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Call<Response> { fatalError("unavailable") }

  /// Unavailable: pass an `Encodable` model as `json:`, or variables of several types as `parameters:`.
  @available(
    *, unavailable,
    message: "json: takes an Encodable model or constants; pass variables as parameters: (nested: as Parameters)"
  )
  @_disfavoredOverload
  public static func delete(
    _ url: some URLConvertible, json: Any, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Self { fatalError("unavailable") }

  /// Unavailable: pass an `Encodable` model as `json:`, or variables of several types as `parameters:`.
  @available(
    *, unavailable,
    message: "json: takes an Encodable model or constants; pass variables as parameters: (nested: as Parameters)"
  )
  @_disfavoredOverload
  public static func post(
    _ url: some URLConvertible, json: Any, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Self { fatalError("unavailable") }

  /// Unavailable: pass an `Encodable` model as `json:`, or variables of several types as `parameters:`.
  @available(
    *, unavailable,
    message: "json: takes an Encodable model or constants; pass variables as parameters: (nested: as Parameters)"
  )
  @_disfavoredOverload
  public static func put(
    _ url: some URLConvertible, json: Any, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Self { fatalError("unavailable") }

  /// Unavailable: pass an `Encodable` model as `json:`, or variables of several types as `parameters:`.
  @available(
    *, unavailable,
    message: "json: takes an Encodable model or constants; pass variables as parameters: (nested: as Parameters)"
  )
  @_disfavoredOverload
  public static func patch(
    _ url: some URLConvertible, json: Any, query: Parameters = [:], headers: HTTPHeaders = [:]
  ) -> Self { fatalError("unavailable") }
}

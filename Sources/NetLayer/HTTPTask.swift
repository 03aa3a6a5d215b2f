import PortableFoundation

/// The content that an endpoint sends.
public struct HTTPTask: Sendable {
  package enum Kind: Sendable {
    case none
    case data(Data, contentType: String?)
    case parameters(Parameters, encoding: (any ParameterEncoder)?)
    case composite(query: Parameters, body: Parameters, encoding: (any ParameterEncoder)?)
    indirect case query(Parameters, HTTPTask)
    case json(any Sendable & Encodable)
    case form(Parameters)
    case multipart(MultipartForm)
    case upload(URL, contentType: String?)
    case stream(Request.BodyStream, contentType: String?)
    case lines(JSONLines)
    case download(to: URL, parameters: Parameters, encoding: (any ParameterEncoder)?)
  }

  package let kind: Kind

  /// No content, except the backend's common parameters.
  public static var none: HTTPTask { HTTPTask(kind: .none) }
  /// Bytes as the body. A non-empty `contentType` becomes the `Content-Type`. Common parameters go into the query.
  public static func data(_ bytes: Data, contentType: String? = nil) -> HTTPTask {
    HTTPTask(kind: .data(bytes, contentType: contentType))
  }
  /// Parameters. They go into the URL for GET, HEAD, DELETE and TRACE, else into the body in the backend's
  /// `bodyEncoding`. `encoding` overrides both.
  public static func parameters(_ parameters: Parameters, encoding: (any ParameterEncoder)? = nil) -> HTTPTask {
    HTTPTask(kind: .parameters(parameters, encoding: encoding))
  }
  /// Parameters in the query and others in the body. The body uses `encoding`, or else the backend's `bodyEncoding`.
  /// Common parameters go into the query.
  public static func composite(
    query: Parameters, body: Parameters, encoding: (any ParameterEncoder)? = nil
  ) -> HTTPTask {
    HTTPTask(kind: .composite(query: query, body: body, encoding: encoding))
  }
  /// Parameters in the query in addition to another task, such as a multipart form. Common parameters go into the
  /// query.
  public static func query(_ parameters: Parameters, _ task: HTTPTask) -> HTTPTask {
    HTTPTask(kind: .query(parameters, task))
  }
  /// Any encodable value as a JSON body, written by the backend's `encoder`.
  public static func json(_ value: any Sendable & Encodable) -> HTTPTask { HTTPTask(kind: .json(value)) }

  /// Creates a JSON body of a literal, which may mix types and nest; `nil` is null.
  @_disfavoredOverload
  public static func json(_ literal: JSON) -> HTTPTask { HTTPTask(kind: .json(literal)) }
  /// Parameters as a form in the body, for any method.
  public static func form(_ parameters: Parameters) -> HTTPTask { HTTPTask(kind: .form(parameters)) }
  /// Fields, data and files as `multipart/form-data`. Common parameters become fields.
  public static func multipart(_ form: MultipartForm) -> HTTPTask { HTTPTask(kind: .multipart(form)) }
  /// The content of a file as the body, streamed from disk. The default type depends on the file's extension. Common
  /// parameters go into the query. An unreadable file is an error of kind `invalidRequest` before anything is sent.
  public static func upload(_ file: URL, contentType: String? = nil) -> HTTPTask {
    HTTPTask(kind: .upload(file, contentType: contentType))
  }
  /// A body that a function or an asynchronous sequence generates during the upload; its length may be unknown. Common
  /// parameters go into the query.
  public static func stream(_ body: Request.BodyStream, contentType: String? = nil) -> HTTPTask {
    HTTPTask(kind: .stream(body, contentType: contentType))
  }
  /// The elements of an asynchronous sequence as newline-delimited JSON. Common parameters go into the query.
  public static func lines(_ lines: JSONLines) -> HTTPTask { HTTPTask(kind: .lines(lines)) }
  /// Parameters as in `parameters`. The body of a successful response is written to the file `to`.
  public static func download(
    to file: URL, parameters: Parameters = [:], encoding: (any ParameterEncoder)? = nil
  ) -> HTTPTask {
    HTTPTask(kind: .download(to: file, parameters: parameters, encoding: encoding))
  }
}

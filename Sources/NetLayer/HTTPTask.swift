import PortableFoundation

/// The content that an endpoint sends.
public enum HTTPTask: Sendable {
  /// No content, except the backend's common parameters.
  case plain
  /// Bytes as the body. A non-empty `contentType` becomes the `Content-Type`. Common parameters go into the query.
  case data(Data, contentType: String? = nil)
  /// Parameters. They go into the URL for GET, HEAD, DELETE and TRACE, else into the body in the backend's
  /// `bodyEncoding`. `encoding` overrides both.
  case parameters(Parameters, encoding: (any ParameterEncoder)? = nil)
  /// Parameters in the query and others in the body. The body uses `encoding`, or else the backend's `bodyEncoding`.
  /// Common parameters go into the query.
  case composite(query: Parameters, body: Parameters, encoding: (any ParameterEncoder)? = nil)
  /// Parameters in the query in addition to another task, such as a multipart form. Common parameters go into the
  /// query.
  indirect case query(Parameters, HTTPTask)
  /// Any encodable value as a JSON body, written by the backend's `encoder`.
  case json(any Sendable & Encodable)
  /// Parameters as a form in the body, for any method.
  case form(Parameters)
  /// Fields, data and files as `multipart/form-data`. Common parameters become fields.
  case multipart(MultipartForm)
  /// The content of a file as the body, streamed from disk. The default type depends on the file's extension. Common
  /// parameters go into the query. An unreadable file is an error of kind `invalidRequest` before anything is sent.
  case upload(URL, contentType: String? = nil)
  /// A body that a function or an asynchronous sequence generates during the upload; its length may be unknown. Common
  /// parameters go into the query.
  case stream(Request.BodyStream, contentType: String? = nil)
  /// The elements of an asynchronous sequence as newline-delimited JSON. Common parameters go into the query.
  case lines(JSONLines)
  /// Parameters as in `parameters`. The body of a successful response is written to the file `to`.
  case download(to: URL, parameters: Parameters = [:], encoding: (any ParameterEncoder)? = nil)
}

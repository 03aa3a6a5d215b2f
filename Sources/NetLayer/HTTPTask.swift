import PortableFoundation

/// What an endpoint sends along (article rows 0.8, 0.12, 2.5, 4.3).
public enum HTTPTask: Sendable {
  /// Nothing of its own; the back end's common parameters only.
  case plain
  /// Bytes as the body, with their `Content-Type` if given and not empty; common parameters go into the query.
  case data(Data, contentType: String? = nil)
  /// Parameters: in the URL for GET, HEAD, DELETE and TRACE, else as the back end's `bodyEncoding` writes them; or as
  /// `encoding` says.
  case parameters(Parameters, encoding: (any ParameterEncoder)? = nil)
  /// Parameters in the query and others in the body, as `encoding` or else the back end's `bodyEncoding` writes them;
  /// common parameters go into the query.
  case composite(query: Parameters, body: Parameters, encoding: (any ParameterEncoder)? = nil)
  /// Parameters in the query of any other task, a multipart form for example; common parameters go into the query.
  indirect case query(Parameters, HTTPTask)
  /// Any encodable value as a JSON body, as the back end's `encoder` writes it.
  case json(any Sendable & Encodable)
  /// Parameters as a form in the body, whatever the method.
  case form(Parameters)
  /// Fields, data and files as `multipart/form-data`; common parameters become fields (article row 0.8).
  case multipart(MultipartForm)
  /// The content of a file as the body, streamed from disk; the type is that of its extension unless given. Common
  /// parameters go into the query. A file that can't be read is an error of kind `invalidRequest` before anything is sent.
  case upload(URL, contentType: String? = nil)
  /// A body that is made while it is sent, by a function or an asynchronous sequence, of known or unknown length;
  /// common parameters go into the query.
  case stream(Request.BodyStream, contentType: String? = nil)
  /// The elements of an asynchronous sequence as newline-delimited JSON; common parameters go into the query.
  case lines(JSONLines)
  /// Parameters as in `parameters`; the body of a successful answer goes to the file `to` (article row 0.12).
  case download(to: URL, parameters: Parameters = [:], encoding: (any ParameterEncoder)? = nil)
}

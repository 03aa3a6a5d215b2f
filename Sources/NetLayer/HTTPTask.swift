import Foundation

/// What an endpoint sends along (article rows 2.5, 4.3).
public enum HTTPTask: Sendable {
  /// Nothing of its own; the back end's common parameters only.
  case plain
  /// Bytes as the body, with their `Content-Type` if given; common parameters go into the query.
  case data(Data, contentType: String? = nil)
  /// Parameters: in the URL for GET, HEAD and DELETE, else as a form; or as `encoding` says.
  case parameters(Parameters, encoding: any ParameterEncoder = .url)
  /// Parameters in the query and others in the body; common parameters go into the query.
  case composite(query: Parameters, body: Parameters, encoding: any ParameterEncoder = .json)
  /// Any encodable value as a JSON body.
  case json(any Sendable & Encodable)
  /// Parameters as a form in the body, whatever the method.
  case form(Parameters)
}

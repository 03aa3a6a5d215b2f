import NetLayer
import PortableFoundation

/// The part of a response that `Demo get` prints.
struct Reading: Sendable {
  var status: Int
  var byteCount: Int
  /// The URL of the response after redirects; `nil` without any.
  var finalURL: String?
  /// The header and trailer fields of the response; `nil` unless they are printed.
  var headers: HTTPHeaders?
  var content: Body
  /// The unchanged bytes of the body, or of the selected value.
  var raw: Data
  var cursor: String?

  /// - Throws: `NetworkError` if the response has no envelope, an envelope with an error code, or no value at the path.
  init(_ response: Response, _ options: GetOptions) throws {
    status = response.status
    byteCount = response.body.count
    finalURL = response.finalURL
    // As in curl's output, with the fields after the body.
    let fields = response.trailers.reduce(into: response.headers) { $0.append($1.name, $1.value) }
    headers = options.showsHeaders ? fields : nil
    guard options.envelope != nil || options.path != nil || options.followPages else {
      raw = response.body
      content = Body(response)
      return
    }
    let hasEnvelope = options.envelope != nil || options.followPages
    let envelope = options.envelope ?? Envelope()
    let json = hasEnvelope ? try response.common(envelope) : try response.json()
    if hasEnvelope { cursor = envelope.cursor.flatMap { Self.cursor(json[$0]) } }
    var value = json
    if hasEnvelope, let data = envelope.data { value = json[data] }
    if let path = options.path {
      value = value[at: path]
      guard value.exists else {
        throw NetworkError(
          kind: .parse, reason: "the response has no value at \(path.debugDescription)", response: response)
      }
    }
    let bytes = value.exists ? value.data : Data("null".utf8)
    content = .json(Body.compact(bytes))
    // A text without its quotes, for scripts.
    raw = (value.string.map { Data($0.utf8) } ?? bytes) + Data("\n".utf8)
  }

  /// Returns the text of a cursor; `nil` after the last page.
  static func cursor(_ json: JSON) -> String? {
    switch json.kind {
    case .string: json.string.unlessEmpty
    case .number: json.description
    default: nil
    }
  }
}

extension Response {
  /// The URL after redirects, as text for the output; `nil` without redirects.
  var finalURL: String? { redirects.isEmpty ? nil : Target.shown(url.absoluteString) }
}

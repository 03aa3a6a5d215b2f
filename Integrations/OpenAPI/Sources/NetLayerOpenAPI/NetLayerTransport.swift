import Foundation
import HTTPTypes
import NetLayer
import NetLayerHTTPTypes
import OpenAPIRuntime

/// A transport for clients that Swift OpenAPI Generator has generated. It sends each operation as a call of a `Network`.
///
/// ```swift
/// let client = Client(serverURL: try Servers.Server1.url(), transport: NetLayerTransport())
/// ```
/// Request and response bodies are streamed with backpressure: at most 256 KB are buffered in each direction. On Apple
/// platforms, `URLSessionTransport` writes a request body to a temporary file first. Cancelling the task of the
/// operation, or releasing the response body before its end, cancels the request.
///
/// A streamed call has no total time limit. `Backend.timeouts` limits it by `connect`, `idle` and, up to the head of the
/// response, `call`.
public struct NetLayerTransport: ClientTransport {
  private let network: Network

  /// Creates a transport that sends operations over `network`.
  ///
  /// The backend's transport, time limits, interceptors and signer apply to every operation. Its header fields and common
  /// parameters are added to operations of its own origin only: of any origin if it has no base URL.
  public init(_ network: Network = Network()) { self.network = network }

  /// Sends the request of an operation and returns the response when its head has arrived.
  ///
  /// - Parameters:
  ///   - request: The method, path, query and header fields. Its scheme and authority are ignored.
  ///   - body: The body, which is sent again after a redirect or a failed attempt only if its `iterationBehavior` is
  ///     `multiple`.
  ///   - baseURL: The URL of the server, whose path precedes the path of the request.
  ///   - operationID: Ignored.
  /// - Returns: The response, whatever its status, and its body. The body is `nil` if the response cannot have one
  ///   (RFC 9110 §6.4.1).
  /// - Throws: `NetworkError`, of kind `invalidRequest` if the path does not begin with a slash; `CancellationError` if
  ///   the task is cancelled.
  public func send(
    _ request: HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String
  ) async throws -> (HTTPResponse, HTTPBody?) {
    let call = Call(
      HTTPMethod(rawValue: request.method.rawValue), try Self.url(of: request, below: baseURL),
      task: body.map { .stream(Request.BodyStream($0)) } ?? .none, headers: HTTPHeaders(request.headerFields))
    let streamed = try await network.response(streaming: call).value
    let response = streamed.response
    guard request.method != .head, ![204, 205, 304].contains(response.status) else {
      return (HTTPResponse(response), nil)
    }
    return (
      HTTPResponse(response),
      HTTPBody(streamed.chunks.map { ArraySlice($0) }, length: Self.length(of: response), iterationBehavior: .single)
    )
  }

  /// The path of the server, followed by that of the request. The query of the server's URL, if any, is dropped.
  ///
  /// - Throws: `NetworkError` of kind `invalidRequest` if the path does not begin with a slash.
  static func url(of request: HTTPRequest, below baseURL: URL) throws -> String {
    let base = baseURL.absoluteString.prefix { $0 != "?" && $0 != "#" }
    let path = request.path ?? ""
    // Without the slash, the path would continue the host.
    guard path.isEmpty || path.hasPrefix("/") else {
      throw NetworkError(
        kind: .invalidRequest, reason: "the path \(path.debugDescription) does not begin with a slash; add it")
    }
    return (base.hasSuffix("/") && !path.isEmpty ? base.dropLast() : base) + path
  }

  /// The length of the decoded body.
  static func length(of response: Response) -> HTTPBody.Length {
    guard response.headers["Content-Encoding"] == nil, let text = response.headers["Content-Length"],
      let count = Int64(text)
    else { return .unknown }
    return .known(count)
  }
}

extension Request.BodyStream {
  /// A body that is read from `body` while it is sent.
  init(_ body: HTTPBody) {
    var count: Int64?
    if case .known(let length) = body.length { count = length }
    let chunks = body.map { Data($0) }
    switch body.iterationBehavior {
    case .multiple: self.init(count: count) { chunks }
    default: self.init(count: count, once: chunks)
    }
  }
}

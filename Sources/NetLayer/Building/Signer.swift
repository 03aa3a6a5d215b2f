import PortableFoundation

/// A type that computes signatures of requests from their sorted final parameters, for each attempt.
///
/// A signer may use `await`, for keys that are fetched over the network or stored in hardware.
public protocol Signer: Sendable {
  /// Returns the signature of the request that has `content`.
  ///
  /// It is called for each attempt immediately before sending, after all interceptors, and for each redirect within the
  /// origin. It runs in a task that is cancelled with the call. On Linux and on Apple's systems of 2025, the task
  /// begins on the sending thread.
  ///
  /// - Throws: Any error. The request then fails with it, and nothing is sent.
  func sign(_ content: ContentToSign) async throws -> RequestSignature
  /// An identifier of the user whose key signs; it is not sent.
  ///
  /// Requests of two accounts never share a response of a cache or of a `CoalescingInterceptor`. `nil`, the default, stands
  /// for one user whom no other signer has, nor the same signer after a new launch. A signer whose user changes must
  /// set the current one. Called on the subscribing and the sending thread.
  var account: String? { get }
}

extension Signer {
  /// `nil`, which stands for one user whom no other signer has.
  public var account: String? { nil }
}

/// The input of a signer: the final request without its signature.
public struct ContentToSign: Sendable {
  /// The request with all parameters encoded and with the changes made by interceptors, such as a token.
  public let request: Request
  /// The names and values of all parameters, including common ones, sorted by name, before escaping. Nested names have
  /// the format of the backend's `queryEncoding`.
  public let parameters: [Parameter]

  /// The name and the value of a parameter, before escaping.
  public struct Parameter: Sendable, Hashable {
    /// The name.
    public let name: String
    /// The value.
    public let value: String

    /// Creates a parameter.
    public init(name: String, value: String) { (self.name, self.value) = (name, value) }
  }

  /// Creates the input of a signer, to test one. `parameters` must be sorted by name.
  public init(request: Request, parameters: [Parameter] = []) {
    (self.request, self.parameters) = (request, parameters)
  }

  /// The parameters as one text, `a=1&b=2`, sorted by name with unescaped values: the input of most signatures.
  public var text: String { parameters.map { "\($0.name)=\($0.value)" }.joined(separator: "&") }
}

/// The parameters and header fields that a signer adds to a request.
public struct RequestSignature: Sendable {
  /// The parameters of the signature, sent in the same place as the call's own parameters. In a body, they are added to
  /// the call's own body, even if an interceptor has replaced it.
  public var parameters: Parameters
  /// The header fields of the signature, which replace fields of the same name.
  public var headers: HTTPHeaders
  /// The name of the user whose key has signed, for a signer that is an ``AccountSource``; it is not sent.
  ///
  /// A call of another user is then not sent, although the user has changed while the signer was waiting.
  public var account: String?

  /// Creates a signature of `parameters` and `headers` by the key of `account`.
  public init(parameters: Parameters = [:], headers: HTTPHeaders = [:], account: String? = nil) {
    self.parameters = parameters
    self.headers = headers
    self.account = account
  }

  /// Returns the names of its parameters in a query that `encoder` writes.
  fileprivate func names(by encoder: URLParameterEncoder) throws -> [String] {
    try encoder.pairs(of: parameters).map(\.name)
  }
}

/// The signing of a request: its signer, and the forms of the request that a signature is added to.
final class Signing: Sendable, ContextKey {
  static var defaultValue: Signing? { nil }

  let signer: any Signer
  private let task: TaskEncoder
  /// The request without its parameters.
  private let bare: Request
  /// The request with its parameters, without a signature.
  let encoded: Request
  private let parameters: [ContentToSign.Parameter]

  init(_ signer: any Signer, _ task: TaskEncoder, bare: Request) throws {
    (self.signer, self.task, self.bare) = (signer, task, bare)
    var request = bare
    try task.encode(into: &request)
    encoded = request
    parameters = Self.sorted(try task.pairs(for: bare.method) + bare.url.queryPairs)
  }

  private static func sorted(_ pairs: [(name: String, value: String)]) -> [ContentToSign.Parameter] {
    pairs.map(ContentToSign.Parameter.init).sorted { ($0.name, $0.value) < ($1.name, $1.value) }
  }

  /// Returns `request`, which is `encoded` with the changes made by interceptors, with a new signature.
  func sign(_ request: Request) async throws(NetworkError) -> Request {
    do {
      let unsigned = try unsigned(request)
      let signature = try await signer.sign(ContentToSign(request: unsigned, parameters: parameters))
      return try adding(signature, to: unsigned)
    } catch {
      throw failure(error, of: request)
    }
  }

  /// Returns `next`, to which a redirect within the origin leads, with its own signature. `request` is the one that was
  /// redirected, as it was before it was signed and compressed.
  func sign(_ next: Request, redirectedFrom request: Request) async throws(NetworkError) -> Request {
    do {
      let former = next.context[Signed.self]?.signature ?? RequestSignature()
      let keepsBody = !next.body.isEmpty
      var unsigned = next
      unsigned.context[Signed.self] = nil
      for field in former.headers where next.headers[field.name] == field.value {
        unsigned.headers[field.name] = request.headers[field.name]
      }
      if keepsBody {
        unsigned.body = request.body
        for name in ["Content-Type", "Content-Encoding"] { unsigned.headers[name] = request.headers[name] }
      }
      // The server may repeat the query, with its signature.
      unsigned.url = next.url.withoutQueryPairs(of: try former.names(by: task.conventions.query))
      let content = unsigned.url.queryPairs + (keepsBody ? bodyParameters : [])
      let signature = try await signer.sign(
        ContentToSign(request: unsigned, parameters: Self.sorted(content)))
      return try adding(signature, to: unsigned, ofRedirect: true)
    } catch {
      throw failure(error, of: next)
    }
  }

  /// The parameters that are not in the URL.
  private var bodyParameters: [(name: String, value: String)] {
    var left = parameters.map { (name: $0.name, value: $0.value) }
    for pair in encoded.url.queryPairs {
      if let place = left.firstIndex(where: { $0 == pair }) { left.remove(at: place) }
    }
    return left
  }

  private func failure(_ error: any Error, of request: Request) -> NetworkError {
    if error is NetworkError || error is CancellationError { return NetworkError.wrapping(error).about(request) }
    return NetworkError(
      kind: .encoding, message: (error as? any LocalizedError)?.errorDescription,
      reason: "the request cannot be signed: \(error)", request: request, underlying: error)
  }

  private func adding(
    _ signature: RequestSignature, to unsigned: Request, ofRedirect isRedirect: Bool = false
  ) throws -> Request {
    var request = unsigned
    if !signature.parameters.isEmpty {
      // A URL from the server, such as the next page's, may contain the previous signature.
      if request.url.query != nil, request.url != encoded.url {
        request.url = request.url.withoutQueryPairs(of: try signature.names(by: task.conventions.query))
      }
      try write(signature.parameters, into: &request, ofRedirect: isRedirect)
    }
    request.headers = request.headers.merging(signature.headers)
    request.originBoundHeaders = request.originBoundHeaders.merging(signature.headers)
    request.context[Signed.self] = Signed(signature: signature, url: request.url, type: request.headers["Content-Type"])
    return request
  }

  /// Encodes the parameters of the call again, with `extra` among them.
  private func write(_ extra: Parameters, into request: inout Request, ofRedirect isRedirect: Bool) throws {
    var whole = bare
    try TaskEncoder(task: task.task, common: extra.over(task.common), conventions: task.conventions)
      .encode(into: &whole)
    if isRedirect, request.body.isEmpty || whole.url != encoded.url {
      return try task.conventions.query.encode(extra, into: &request)
    }
    request.body = whole.body
    // A multipart body has a new boundary.
    if request.headers["Content-Type"] == encoded.headers["Content-Type"] {
      request.headers["Content-Type"] = whole.headers["Content-Type"]
    }
    if request.url == encoded.url {
      request.url = whole.url
    } else if whole.url != encoded.url {
      // An interceptor's URL is not replaced.
      try task.conventions.query.encode(extra, into: &request)
    }
  }

  /// Returns `request` without its signature, which it has if an interceptor sends it again as it was sent.
  private func unsigned(_ request: Request) throws -> Request {
    guard let signed = request.context[Signed.self] else { return request }
    var request = request
    request.context[Signed.self] = nil
    for field in signed.signature.headers where request.headers[field.name] == field.value {
      request.headers[field.name] = encoded.headers[field.name]
    }
    guard !signed.signature.parameters.isEmpty else { return request }
    request.body = encoded.body
    request.headers["Content-Encoding"] = encoded.headers["Content-Encoding"]
    if request.headers["Content-Type"] == signed.type {
      request.headers["Content-Type"] = encoded.headers["Content-Type"]
    }
    if request.url == signed.url {
      request.url = encoded.url
    } else if signed.url != encoded.url {
      request.url = request.url.withoutQueryPairs(of: try signed.signature.names(by: task.conventions.query))
    }
    return request
  }
}

/// The signature that a request has, and what was signed.
struct Signed: Sendable, ContextKey {
  static var defaultValue: Signed? { nil }

  let signature: RequestSignature
  let url: URL
  let type: String?
}

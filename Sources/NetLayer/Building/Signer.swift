import PortableFoundation
import Synchronization

/// A type that computes signatures of requests from their sorted final parameters, for each attempt.
///
/// ```swift
/// struct AntiCrawler: Signer {
///   func sign(_ content: SignedContent) -> Signature {
///     Signature(parameters: ["sign": HTTPDigest.hex(HTTPDigest.md5(Data((content.text + secret).utf8)))])
///   }
/// }
/// ```
public protocol Signer: Sendable {
  /// Returns the signature of the request that has `content`.
  ///
  /// It is called on the subscribing thread when the request is built. It is
  /// called again on the sending thread if interceptors have changed the request (such as a token), or if the request is
  /// sent again. Each attempt can thus have its own nonce.
  ///
  /// - Throws: Any error. The request then fails with it, and nothing is sent.
  func sign(_ content: SignedContent) throws -> Signature
}

/// A signer that uses `await`, for keys that are fetched over the network or stored in hardware.
///
/// ```swift
/// Backend(baseURL: url, signer: AsyncSigner { content in
///   Signature(headers: ["X-Signature": try await vault.sign(content.text)])
/// })
/// ```
/// It runs for every attempt immediately before sending, in a task that is cancelled with the call. Interceptors see
/// the request without a signature.
public struct AsyncSigner: Signer {
  let signature: @Sendable (SignedContent) async throws -> Signature

  /// Creates a signer that adds the result of `signature`.
  public init(_ signature: @escaping @Sendable (SignedContent) async throws -> Signature) { self.signature = signature }

  /// Always throws, because this signer is asynchronous.
  ///
  /// - Throws: `NetworkError` of kind `invalidRequest`.
  public func sign(_ content: SignedContent) throws -> Signature {
    throw NetworkError(
      kind: .invalidRequest, reason: "an AsyncSigner cannot sign synchronously; set it as Backend.signer")
  }
}

/// The input of a signer: the final request without its signature.
public struct SignedContent: Sendable {
  /// The request with all parameters encoded and with the changes made by interceptors, such as a token.
  public let request: Request
  /// The names and values of all parameters, including common ones, sorted by name, before escaping. Nested names have
  /// the format of `URLParameterEncoder`.
  public let parameters: [(name: String, value: String)]

  /// Creates the input of a signer, to test one. `parameters` must be sorted by name.
  public init(request: Request, parameters: [(name: String, value: String)] = []) {
    (self.request, self.parameters) = (request, parameters)
  }

  /// The parameters as one text, `a=1&b=2`, sorted by name with unescaped values: the input of most signatures.
  public var text: String { parameters.map { "\($0.name)=\($0.value)" }.joined(separator: "&") }
}

/// The parameters and header fields that a signer adds to a request.
public struct Signature: Sendable {
  /// The parameters of the signature, sent in the same place as the call's own parameters. In a body, they are added to
  /// the call's own body, even if an interceptor has replaced it.
  public var parameters: Parameters
  /// The header fields of the signature, which replace fields of the same name.
  public var headers: HTTPHeaders

  /// Creates a signature of `parameters` and `headers`.
  public init(parameters: Parameters = [:], headers: HTTPHeaders = [:]) {
    self.parameters = parameters
    self.headers = headers
  }

  /// The names of its parameters in a query.
  fileprivate var names: [String] { get throws { try URLParameterEncoder().pairs(of: parameters).map(\.name) } }
}

/// The signing of a request, which happens when the request is built, and again after a change or for another attempt.
struct Signing: Sendable {
  let signer: any Signer
  let task: TaskEncoder
  /// The request without its parameters.
  let bare: Request
  /// The request with its parameters, without a signature.
  let encoded: Request
  /// The parameters that the signer receives.
  let parameters: [(name: String, value: String)]

  /// Encodes the parameters into `bare`.
  ///
  /// - Throws: `NetworkError` of kind `encoding`, or the error of a custom encoder.
  init(_ signer: any Signer, _ task: TaskEncoder, bare: Request) throws {
    (self.signer, self.task, self.bare) = (signer, task, bare)
    var request = bare
    try task.encode(into: &request)
    encoded = request
    parameters = try (task.pairs(for: bare.method) + bare.url.queryPairs).sorted {
      ($0.name, $0.value) < ($1.name, $1.value)
    }
  }

  /// Returns `unsigned` with a new signature. `unsigned` is `encoded` with the changes made by interceptors.
  func sign(_ unsigned: Request) throws -> Request {
    let signature = try signer.sign(SignedContent(request: unsigned, parameters: parameters))
    return try adding(signature, to: unsigned)
  }

  private func adding(_ signature: Signature, to unsigned: Request) throws -> Request {
    var request = unsigned
    if !signature.parameters.isEmpty {
      // A URL from the server, such as the next page's, may contain the former signature.
      if request.url.query != nil, request.url != encoded.url {
        request.url = request.url.withoutQueryPairs(of: try signature.names)
      }
      try write(signature.parameters, into: &request)
    }
    request.headers = request.headers.merging(signature.headers)
    request.context[OriginBoundFields.self] = request.context[OriginBoundFields.self].merging(signature.headers)
    request.context[Signed.self] = Signed(self, signature, request)
    return request
  }

  /// Returns `encoded` with a signature, or prepared for an asynchronous signature when it is sent.
  func begun() throws -> Request {
    guard signer is AsyncSigner else { return try sign(encoded) }
    var request = encoded
    request.context[AwaitedSignature.self] = AwaitedSignature(signing: self)
    return request
  }

  /// The signing of a request with an asynchronous signer.
  final class AwaitedSignature: Sendable, ContextKey {
    static var defaultValue: AwaitedSignature? { nil }
    private let signing: Signing

    init(signing: Signing) { self.signing = signing }

    /// Returns `request` with a new signature.
    func sign(_ request: Request) async throws -> Request {
      guard let signer = signing.signer as? AsyncSigner else { return request }
      do {
        // A request that is sent again already has a signature.
        let bare = try request.context[Signed.self]?.unsigned(request) ?? request
        let signature = try await signer.signature(SignedContent(request: bare, parameters: signing.parameters))
        return try signing.adding(signature, to: bare)
      } catch {
        throw Signing.failure(error, request)
      }
    }
  }

  static func failure(_ error: any Error, _ request: Request) -> NetworkError {
    if error is NetworkError || error is CancellationError { return NetworkError.wrapping(error).about(request) }
    return NetworkError(
      kind: .encoding, reason: "the request cannot be signed: \(error)", request: request, underlying: error)
  }

  /// Encodes the parameters of the call again, with `extra` among them.
  private func write(_ extra: Parameters, into request: inout Request) throws {
    var whole = bare
    try TaskEncoder(task: task.task, common: extra.over(task.common), conventions: task.conventions)
      .encode(into: &whole)
    request.body = whole.body
    // A multipart body has a new boundary.
    if request.headers["Content-Type"] == encoded.headers["Content-Type"] {
      request.headers["Content-Type"] = whole.headers["Content-Type"]
    }
    if request.url == encoded.url {
      request.url = whole.url
    } else if whole.url != encoded.url {
      // An interceptor's URL is not replaced.
      try URLParameterEncoder(destination: .query).encode(extra, into: &request)
    }
  }
}

/// The signature of a request.
final class Signed: Sendable, ContextKey {
  static var defaultValue: Signed? { nil }

  private let signing: Signing
  private let signature: Signature
  private let url: URL
  private let headers: HTTPHeaders
  /// Guards the first use of the signature, which the first attempt claims on any thread.
  private let isSent = Atomic<Bool>(false)

  init(_ signing: Signing, _ signature: Signature, _ request: Request) {
    (self.signing, self.signature) = (signing, signature)
    (url, headers) = (request.url, request.headers)
  }

  /// Returns `request` for sending: unchanged if the signature belongs to exactly this request and is unused, else
  /// signed again.
  func renewed(_ request: Request) throws(NetworkError) -> Request {
    if !isSent.exchange(true, ordering: .relaxed), request.url == url, request.headers == headers { return request }
    do {
      return try signing.sign(unsigned(request))
    } catch {
      throw Signing.failure(error, request)
    }
  }

  /// Returns `request` without the signature.
  fileprivate func unsigned(_ request: Request) throws -> Request {
    var request = request
    request.context[Signed.self] = nil
    for field in signature.headers where request.headers[field.name] == field.value {
      request.headers[field.name] = signing.encoded.headers[field.name]
    }
    guard !signature.parameters.isEmpty else { return request }
    request.body = signing.encoded.body
    if request.headers["Content-Type"] == headers["Content-Type"] {
      request.headers["Content-Type"] = signing.encoded.headers["Content-Type"]
    }
    if request.url == url {
      request.url = signing.encoded.url
    } else if url != signing.encoded.url {
      request.url = request.url.withoutQueryPairs(of: try signature.names)
    }
    return request
  }
}

extension Request {
  /// Returns the request for sending.
  func readyToSend() throws(NetworkError) -> Request { try context[Signed.self]?.renewed(self) ?? self }
}

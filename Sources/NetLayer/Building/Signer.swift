import PortableFoundation
import Synchronization

/// Signs requests: runs over the sorted final parameters (article row 0.2), anew for every attempt.
///
/// ```swift
/// struct AntiCrawler: Signer {
///   func sign(_ content: SignedContent) -> Signature {
///     Signature(parameters: ["sign": Digest.hex(Digest.md5(Data((content.text + secret).utf8)))])
///   }
/// }
/// ```
public protocol Signer: Sendable {
  /// What is added to the request that has `content`; called when it is built, on the thread that subscribes, and once
  /// more, on the thread that sends it, when interceptors have changed it (a token) or it is sent again: each attempt has
  /// a nonce of its own.
  ///
  /// - Throws: any error; the request then fails with it, and nothing is sent.
  func sign(_ content: SignedContent) throws -> Signature
}

/// A signer written with `await`: for keys that are fetched, or kept in hardware.
///
/// ```swift
/// Backend(baseURL: url, signer: AsyncSigner { content in
///   Signature(headers: ["X-Signature": try await vault.sign(content.text)])
/// })
/// ```
/// It is asked for every attempt just before that is sent, in a task that is cancelled with the call; interceptors see the
/// request without a signature.
public struct AsyncSigner: Signer {
  let signature: @Sendable (SignedContent) async throws -> Signature

  /// A signer that adds what `signature` gives.
  public init(_ signature: @escaping @Sendable (SignedContent) async throws -> Signature) { self.signature = signature }

  /// Fails: this signer has to be waited for.
  ///
  /// - Throws: `NetworkError` of kind `invalidRequest`.
  public func sign(_ content: SignedContent) throws -> Signature {
    throw NetworkError(kind: .invalidRequest, reason: "an AsyncSigner works as a back end's signer alone")
  }
}

/// What a signer sees: the request as it will be sent, but for the signature.
public struct SignedContent: Sendable {
  /// The request with all parameters encoded and with what interceptors have put into it, such as a token.
  public let request: Request
  /// The names and values of all parameters, the call's and the common ones, sorted by name, before escaping; nested ones
  /// are named as `URLParameterEncoder` names them.
  public let parameters: [(name: String, value: String)]

  /// `a=1&b=2`: the parameters as one text, sorted by name, values as they are. What most signatures are computed of.
  public var text: String { parameters.map { "\($0.name)=\($0.value)" }.joined(separator: "&") }
}

/// What a signer adds to a request.
public struct Signature: Sendable {
  /// Parameters, which travel where the call's own go; those of a body are written into the call's own body, whatever an
  /// interceptor has put in its place.
  public var parameters: Parameters
  /// Header fields, in place of those of the same name.
  public var headers: HTTPHeaders

  /// A signature of `parameters` and `headers`.
  public init(parameters: Parameters = [:], headers: HTTPHeaders = [:]) {
    self.parameters = parameters
    self.headers = headers
  }

  /// The names that its parameters have in a query.
  fileprivate var names: [String] { get throws { try URLParameterEncoder().pairs(of: parameters).map(\.name) } }
}

/// How a request is signed: once when it is built, and anew when it has been changed since or is sent once more.
struct Signing: Sendable {
  let signer: any Signer
  let task: TaskEncoder
  /// The request before its parameters were in it.
  let bare: Request
  /// The request with its parameters, and without a signature.
  let encoded: Request
  /// What the signer sees of them.
  let parameters: [(name: String, value: String)]

  /// - Throws: `NetworkError` of kind `encoding`, or what an encoder of the user's throws.
  init(_ signer: any Signer, _ task: TaskEncoder, bare: Request) throws {
    (self.signer, self.task, self.bare) = (signer, task, bare)
    var request = bare
    try task.encode(into: &request)
    encoded = request
    parameters = try (task.pairs(for: bare.method) + bare.url.queryPairs).sorted {
      ($0.name, $0.value) < ($1.name, $1.value)
    }
  }

  /// `unsigned`, which is `encoded` or what interceptors have made of it, with a new signature.
  func sign(_ unsigned: Request) throws -> Request {
    let signature = try signer.sign(SignedContent(request: unsigned, parameters: parameters))
    return try adding(signature, to: unsigned)
  }

  private func adding(_ signature: Signature, to unsigned: Request) throws -> Request {
    var request = unsigned
    if !signature.parameters.isEmpty {
      // A URL that came from the server, such as the next page's, may have the former signature.
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

  /// `encoded`, to be signed when it is sent where the signer has to be waited for, else with a signature.
  func begun() throws -> Request {
    guard signer is AsyncSigner else { return try sign(encoded) }
    var request = encoded
    request.context[AwaitedSignature.self] = AwaitedSignature(signing: self)
    return request
  }

  /// The signing of a request whose signer has to be waited for.
  final class AwaitedSignature: Sendable, ContextKey {
    static var defaultValue: AwaitedSignature? { nil }
    private let signing: Signing

    init(signing: Signing) { self.signing = signing }

    /// `request` with a new signature.
    func sign(_ request: Request) async throws -> Request {
      guard let signer = signing.signer as? AsyncSigner else { return request }
      do {
        // One that is sent again as it went out has a signature.
        let bare = try request.context[Signed.self]?.unsigned(request) ?? request
        let signature = try await signer.signature(SignedContent(request: bare, parameters: signing.parameters))
        return try signing.adding(signature, to: bare)
      } catch {
        throw Signing.failure(error, request)
      }
    }
  }

  static func failure(_ error: any Error, _ request: Request) -> NetworkError {
    if let known = error as? NetworkError { return known.about(request) }
    return NetworkError(
      kind: .encoding, reason: "the request cannot be signed: \(error)", request: request, underlying: error)
  }

  /// Encodes the parameters of the call once more, with `extra` among them.
  private func write(_ extra: Parameters, into request: inout Request) throws {
    var whole = bare
    try TaskEncoder(task: task.task, common: extra.over(task.common), conventions: task.conventions)
      .encode(into: &whole)
    request.body = whole.body
    // A multipart body has another boundary.
    if request.headers["Content-Type"] == encoded.headers["Content-Type"] {
      request.headers["Content-Type"] = whole.headers["Content-Type"]
    }
    if request.url == encoded.url {
      request.url = whole.url
    } else if whole.url != encoded.url {
      // An interceptor's URL stays as it is.
      try URLParameterEncoder(destination: .query).encode(extra, into: &request)
    }
  }
}

/// The signature that a request has.
final class Signed: Sendable, ContextKey {
  static var defaultValue: Signed? { nil }

  private let signing: Signing
  private let signature: Signature
  private let url: URL
  private let headers: HTTPHeaders
  /// The first attempt that sends takes the signature, on whatever thread.
  private let isSent = Atomic<Bool>(false)

  init(_ signing: Signing, _ signature: Signature, _ request: Request) {
    (self.signing, self.signature) = (signing, signature)
    (url, headers) = (request.url, request.headers)
  }

  /// `request` as it goes out: as it is where the signature is of this very request and has not been used yet.
  func renewed(_ request: Request) throws(NetworkError) -> Request {
    if !isSent.exchange(true, ordering: .relaxed), request.url == url, request.headers == headers { return request }
    do {
      return try signing.sign(unsigned(request))
    } catch {
      throw Signing.failure(error, request)
    }
  }

  /// `request` without the signature.
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
  /// The request as it goes out.
  func readyToSend() throws(NetworkError) -> Request { try context[Signed.self]?.renewed(self) ?? self }
}

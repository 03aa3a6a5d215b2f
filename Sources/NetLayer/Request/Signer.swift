import Foundation

/// Signs requests: runs last, over the sorted final parameters (article row 0.2).
///
/// ```swift
/// struct AntiCrawler: Signer {
///   func sign(_ content: SignedContent) -> Signature {
///     Signature(parameters: ["sign": Digest.md5(Data((content.text + secret).utf8)).hex])
///   }
/// }
/// ```
public protocol Signer: Sendable {
  /// What is added to the request that has `content`; called once per request, on the thread that subscribes.
  ///
  /// - Throws: any error; the request then fails with it, and nothing is sent.
  func sign(_ content: SignedContent) throws -> Signature
}

/// What a signer sees: the request as it will be sent, but for the signature.
public struct SignedContent: Sendable {
  /// The request with all parameters encoded.
  public let request: Request
  /// The names and values of all parameters, the call's and the common ones, sorted by name, before escaping; nested ones
  /// are named as `URLParameterEncoder` names them.
  public let parameters: [(name: String, value: String)]

  /// `a=1&b=2`: the parameters as one text, sorted by name, values as they are. What most signatures are computed of.
  public var text: String { parameters.map { "\($0.name)=\($0.value)" }.joined(separator: "&") }
}

/// What a signer adds to a request.
public struct Signature: Sendable {
  /// Parameters, which travel where the call's own go.
  public var parameters: Parameters
  /// Header fields, in place of those of the same name.
  public var headers: HTTPHeaders

  /// A signature of `parameters` and `headers`.
  public init(parameters: Parameters = [:], headers: HTTPHeaders = [:]) {
    self.parameters = parameters
    self.headers = headers
  }
}

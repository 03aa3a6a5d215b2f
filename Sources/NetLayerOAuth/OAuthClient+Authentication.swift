import PortableFoundation

extension OAuthClient {
  /// The way in which a client proves to the server who it is (RFC 6749 §2.3). Descriptions and mirrors show no secret.
  public struct Authentication: Sendable {
    private enum Method: Sendable {
      case none, secret(String), secretInBody(String), secretUnescaped(String)
      case assertion(@Sendable (String) async throws -> String)
    }

    private let method: Hidden<Method>

    private init(_ method: Method) { self.method = Hidden(method) }

    /// No authentication: a public client, such as an app or a command-line tool. A secret in a program that users have is not one
    /// (RFC 8252 §8.5).
    public static let none = Authentication(.none)

    /// A secret in the `Authorization` field, with the escapes of RFC 6749 §2.3.1. It is sent in the body instead if the server's
    /// document offers only that. The method is never found by trying, because a first try can use up a code.
    public static func secret(_ secret: String) -> Authentication { Authentication(.secret(secret)) }

    /// A secret in the body, for servers that require it there, or do not decode the escapes of `secret`.
    public static func secretInBody(_ secret: String) -> Authentication { Authentication(.secretInBody(secret)) }

    /// A secret in the `Authorization` field without escapes, for servers that require the field and do not decode it. Letters,
    /// digits, `-`, `.` and `_` have no escapes.
    public static func secretUnescaped(_ secret: String) -> Authentication { Authentication(.secretUnescaped(secret)) }

    /// A signed JSON Web Token (`private_key_jwt`, RFC 7523 §2.2).
    ///
    /// - Parameter sign: A closure that returns a new token for each request. Its `aud` is the closure's argument: the issuer, or
    ///   the token endpoint of a server without one. `iss` and `sub` are the client's id, `jti` differs each time.
    public static func assertion(
      _ sign: @escaping @Sendable (_ audience: String) async throws -> String
    ) -> Authentication { Authentication(.assertion(sign)) }

    /// Adds the credentials of the client `id` to a request.
    func add(
      _ id: String, at server: OAuthServer, to form: inout [String: String], _ headers: inout HTTPHeaders
    ) async throws(NetworkError) {
      func basic(_ user: String, _ password: String) {
        headers["Authorization"] = "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())"
      }
      switch method.value {
      case .none: form["client_id"] = id
      case .secret(let secret):
        // Without a statement, servers accept the field (RFC 8414 §2).
        let isInBody = server.methods.contains("client_secret_post") && !server.methods.contains("client_secret_basic")
        guard isInBody else { return basic(Form.escaped(id), Form.escaped(secret)) }
        (form["client_id"], form["client_secret"]) = (id, secret)
      case .secretInBody(let secret): (form["client_id"], form["client_secret"]) = (id, secret)
      case .secretUnescaped(let secret):
        guard !id.contains(":") else {
          throw .misuse("the client id \(id.debugDescription) contains a colon, which needs escapes: use .secret")
        }
        basic(id, secret)
      case .assertion(let sign):
        form["client_id"] = id
        form["client_assertion_type"] = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
        let audience = server.issuer ?? server.token.absoluteString
        do { form["client_assertion"] = try await sign(audience) } catch { throw .wrapping(error) }
      }
    }
  }
}

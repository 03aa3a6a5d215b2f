import Foundation
import NetLayer
import Streams

/// The backend of the app, and the user who is signed in.
package struct Reader: Sendable {
  /// The network of all screens.
  package let network: Network
  private let accounts: Network
  private let authentication: AuthenticationInterceptor

  nonisolated struct Grant: Decodable, Sendable {
    var accessToken: String
    var refreshToken: String?
    var expiresIn: Double?

    func token(of user: String?) -> Token {
      Token(access: accessToken, refresh: refreshToken, expiresAt: expiresIn.map { .now + $0 }, account: user)
    }
  }

  /// Creates the app's network. `change` adjusts the backend, for tests or an app's transport.
  package init(
    _ url: URL, store: any TokenStore, cache: ResponseCache, _ change: (inout Backend) -> Void = { _ in }
  ) {
    var backend = Backend(
      baseURL: url, coding: .snakeCase, queryEncoding: URLParameterEncoder(arrays: .repeated, bools: .literal))
    change(&backend)
    // A redirect would send the refresh token to another host.
    let accounts = Network(backend).with { $0.options.redirects = .none }
    let authentication = AuthenticationInterceptor(for: [url], store: store) { old in
      guard let old else {
        throw NetworkError(kind: .authentication, message: "Sign in first", reason: "nobody is signed in")
      }
      let call = Call.post("/token", form: ["grant_type": "refresh_token", "refresh_token": old.refresh])
      return try await accounts.fetch(call, as: Grant.self).token(of: nil)
    }
    backend.interceptors = [
      // Every response is stored, so that the screens are filled without a network.
      CacheInterceptor(cache, policy: .networkElseCache), RetryInterceptor(), authentication,
    ]
    (network, self.accounts, self.authentication) = (Network(backend), accounts, authentication)
  }

  /// The user who is signed in, and each change.
  package var user: Observable<String?> { authentication.accountStates.map(\.name) }

  /// Signs in; all screens then show the data of the new user.
  package func signIn(_ user: String, password: String) async throws {
    let call = Call.post("/token", form: ["grant_type": "password", "username": user, "password": password])
    try await authentication.setToken(accounts.fetch(call, as: Grant.self).token(of: user))
  }

  /// Signs out; no screen shows the data of the previous user any more.
  package func signOut() async throws { try await authentication.setToken(nil) }
}

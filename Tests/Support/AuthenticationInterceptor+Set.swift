import HTTPTransport
import NetLayer
import Streams

extension AuthenticationInterceptor {
  /// Sets the token of a store that waits for nothing, and returns when it is saved.
  package func set(_ token: Token?) {
    _ = Single.starting { [self] in try await setToken(token) }.subscribe(onError: { preconditionFailure("\($0)") })
  }

  /// The token of a store that waits for nothing.
  package var present: Token? {
    let found = Locked<Token?>(nil)
    _ = Single.starting { [self] in try await token }.subscribe(
      onSuccess: { token in found.withLock { $0 = token } }, onError: { preconditionFailure("\($0)") })
    return found.withLock { $0 }
  }
}

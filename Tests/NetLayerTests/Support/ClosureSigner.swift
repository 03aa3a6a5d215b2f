import NetLayer

/// A signer that calls a closure, for the user whom `user` names.
struct ClosureSigner: Signer {
  var user: @Sendable () -> String? = { nil }
  let signature: @Sendable (SignedContent) async throws -> RequestSignature

  init(
    for user: @escaping @Sendable () -> String? = { nil },
    _ signature: @escaping @Sendable (SignedContent) async throws -> RequestSignature
  ) {
    (self.user, self.signature) = (user, signature)
  }

  var account: String? { user() }

  func sign(_ content: SignedContent) async throws -> RequestSignature { try await signature(content) }
}

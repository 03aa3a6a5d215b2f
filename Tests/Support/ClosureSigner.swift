import NetLayer

/// A signer that calls a closure, for the user whom `user` names.
package struct ClosureSigner: Signer {
  package var user: @Sendable () -> String? = { nil }
  package let signature: @Sendable (ContentToSign) async throws -> RequestSignature

  package init(
    for user: @escaping @Sendable () -> String? = { nil },
    _ signature: @escaping @Sendable (ContentToSign) async throws -> RequestSignature
  ) {
    (self.user, self.signature) = (user, signature)
  }

  package var account: String? { user() }

  package func sign(_ content: ContentToSign) async throws -> RequestSignature { try await signature(content) }
}

#if canImport(Darwin)
  import PortableFoundation

  /// A store that keeps the token in the keychain, as a generic password that is readable after the first unlock, on this
  /// device only: it does not travel in backups.
  ///
  /// Methods throw `NetworkError` of kind `file` with the `OSStatus` as its `code`. `load()` throws the decoder's error
  /// for an item that is not a token. It is available only on Apple platforms.
  public struct KeychainTokenStore: TokenStore {
    private let item: KeychainItem

    /// Creates a store for one token: `account` distinguishes the tokens of a `service`, the bundle identifier by
    /// default.
    public init(service: String = Bundle.main.bundleIdentifier ?? "NetLayer", account: String = "token") {
      item = KeychainItem(service: service, account: account)
    }

    /// Returns the saved token, or `nil`.
    public func load() throws -> Token? { try item.load().map { try JSONDecoder().decode(Token.self, from: $0) } }

    /// Saves `token`; `nil` removes the saved token.
    public func save(_ token: Token?) throws { try item.save(token.map { try JSONEncoder().encode($0) }) }
  }
#endif

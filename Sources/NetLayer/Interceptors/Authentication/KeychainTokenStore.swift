#if canImport(Darwin)
  import PortableFoundation
  import Security

  /// A store that keeps the token in the keychain, as a generic password that is readable after the first unlock, on this
  /// device only: it does not travel in backups.
  ///
  /// ```swift
  /// AuthenticationInterceptor(for: [shopURL], store: KeychainTokenStore(account: "shop")) { old in … }
  /// ```
  /// Methods throw `NetworkError` of kind `file` with the `OSStatus` as its `code`. `load()` throws the decoder's error
  /// for an item that is not a token. It is available only on Apple platforms.
  public struct KeychainTokenStore: TokenStore {
    private let service: String
    private let account: String

    /// Creates a store for one token.
    ///
    /// - Parameters:
    ///   - service: The name that groups the items of an app; the bundle identifier by default.
    ///   - account: The name that distinguishes the tokens of a service.
    public init(service: String = Bundle.main.bundleIdentifier ?? "NetLayer", account: String = "token") {
      self.service = service
      self.account = account
    }

    private var item: [CFString: Any] {
      [kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: account]
    }

    /// Returns the saved token, or `nil`.
    public func load() throws -> Token? {
      var query = item
      query[kSecReturnData] = true
      query[kSecMatchLimit] = kSecMatchLimitOne
      var found: CFTypeRef?
      let status = SecItemCopyMatching(query as CFDictionary, &found)
      guard status != errSecItemNotFound else { return nil }
      guard status == errSecSuccess, let data = found as? Data else { throw failure("read", status) }
      return try JSONDecoder().decode(Token.self, from: data)
    }

    /// Saves `token`; `nil` removes the saved token.
    public func save(_ token: Token?) throws {
      guard let token else {
        let status = SecItemDelete(item as CFDictionary)
        guard status == errSecSuccess || status == errSecItemNotFound else { throw failure("removed", status) }
        return
      }
      let content: [CFString: Any] = [
        kSecValueData: try JSONEncoder().encode(token),
        kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
      ]
      var status = SecItemUpdate(item as CFDictionary, content as CFDictionary)
      if status == errSecItemNotFound {
        status = SecItemAdd(item.merging(content) { $1 } as CFDictionary, nil)
      }
      guard status == errSecSuccess else { throw failure("saved", status) }
    }

    private func failure(_ action: String, _ status: OSStatus) -> NetworkError {
      let text = SecCopyErrorMessageString(status, nil).map { "\($0)" } ?? "OSStatus \(status)"
      return NetworkError(
        kind: .file, code: Int(status), reason: "the token of \(account) can't be \(action) in the keychain: \(text)")
    }
  }
#endif

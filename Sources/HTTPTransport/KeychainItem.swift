#if canImport(Darwin)
  import PortableFoundation
  import Security

  /// A generic password of the keychain that is readable after the first unlock, on this device only: it does not travel in
  /// backups.
  package struct KeychainItem: Sendable {
    private let service: String
    package let account: String

    package init(service: String, account: String) { (self.service, self.account) = (service, account) }

    private var query: [CFString: Any] {
      [kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: account]
    }

    /// Returns the content, or `nil` if there is no item.
    package func load() throws(NetworkError) -> Data? {
      var query = query
      query[kSecReturnData] = true
      query[kSecMatchLimit] = kSecMatchLimitOne
      var found: CFTypeRef?
      let status = SecItemCopyMatching(query as CFDictionary, &found)
      guard status != errSecItemNotFound else { return nil }
      guard status == errSecSuccess, let data = found as? Data else { throw failure("read", status) }
      return data
    }

    /// Saves `content`; `nil` removes the item.
    package func save(_ content: Data?) throws(NetworkError) {
      guard let content else {
        let status = SecItemDelete(query as CFDictionary)
        guard status == errSecSuccess || status == errSecItemNotFound else { throw failure("removed", status) }
        return
      }
      let values: [CFString: Any] = [
        kSecValueData: content, kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
      ]
      var status = SecItemUpdate(query as CFDictionary, values as CFDictionary)
      if status == errSecItemNotFound { status = SecItemAdd(query.merging(values) { $1 } as CFDictionary, nil) }
      guard status == errSecSuccess else { throw failure("saved", status) }
    }

    private func failure(_ action: String, _ status: OSStatus) -> NetworkError {
      let text = SecCopyErrorMessageString(status, nil).map { "\($0)" } ?? "OSStatus \(status)"
      return NetworkError(
        kind: .file, code: Int(status), reason: "the keychain item \(account) can't be \(action): \(text)")
    }
  }
#endif

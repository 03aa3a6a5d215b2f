import Dispatch
import PortableFoundation

/// The file or the keychain item that keeps the cookies of a jar between runs.
final class CookieStorage: Sendable {
  private let keepsSessionCookies: Bool
  private let name: String
  private let write: @Sendable (Data) throws -> Void
  /// Writes one after another.
  private let queue = DispatchQueue(label: "NetLayer.CookieJar", qos: .utility)
  /// Guards whether a write is due, and the reason why the last one failed.
  private let state = Locked((isDue: false, hasFailed: false))
  /// The cookies that were read or written last; `nil` before. Taken on `queue`, one write at a time.
  private let stored = Locked<[CookieJar.Cookie]?>(nil)
  /// The time in which changes are collected, so that a server that sets a cookie with each response causes few writes.
  private static let delay = DispatchTimeInterval.milliseconds(250)
  /// The jar's 3,000 cookies of at most 4 KB and their attributes.
  private static let limit = 32 << 20

  init(keepsSessionCookies: Bool, name: String, write: @escaping @Sendable (Data) throws -> Void) {
    (self.keepsSessionCookies, self.name, self.write) = (keepsSessionCookies, name, write)
  }

  /// Opens `file`, and returns the cookies in it.
  static func open(_ file: URL, keepsSessionCookies: Bool) throws(NetworkError) -> (CookieStorage, [CookieJar.Cookie]) {
    func failure(_ reason: String, _ error: (any Error)? = nil) -> NetworkError {
      let remedy = error is FolderError ? "create the folder" : "remove it"
      return NetworkError(
        kind: .file,
        reason: "the cookie file \(file.path) can't be read (\(reason)); \(remedy), or choose another file",
        underlying: error)
    }
    let storage = CookieStorage(keepsSessionCookies: keepsSessionCookies, name: "file \(file.path)") { content in
      try DurableFile(file, limit: limit).write(content)
    }
    do {
      guard let (content, isOwn) = try DurableFile(file, limit: limit).read() else { return (storage, []) }
      guard isOwn else { throw failure("another user can write to it") }
      guard case .intact(let text) = content else { throw failure("it is damaged") }
      return (storage, try storage.decode(text))
    } catch {
      throw error as? NetworkError ?? failure("\(error)", error)
    }
  }

  #if canImport(Darwin)
    /// Opens an item of the keychain, and returns the cookies in it.
    static func open(
      _ item: KeychainItem, keepsSessionCookies: Bool
    ) throws(NetworkError) -> (CookieStorage, [CookieJar.Cookie]) {
      let storage = CookieStorage(keepsSessionCookies: keepsSessionCookies, name: "keychain item \(item.account)") {
        try item.save($0)
      }
      guard let text = try item.load() else { return (storage, []) }
      do {
        return (storage, try storage.decode(text))
      } catch {
        throw NetworkError(
          kind: .file, reason: "the keychain item \(item.account) does not contain cookies; choose another account",
          underlying: error)
      }
    }
  #endif

  private struct Content: Codable {
    var cookies: [CookieJar.Cookie]
  }

  private func decode(_ text: Data) throws -> [CookieJar.Cookie] {
    let cookies = try JSONDecoder().decode(Content.self, from: text).cookies
    stored.withLock { $0 = cookies }
    return cookies
  }

  /// Writes the cookies that `cookies` returns, in a quarter of a second, if they differ from those stored. Errors are reported once, to standard error.
  func noteChange(_ cookies: @escaping @Sendable () -> [CookieJar.Cookie]) {
    let wasDue = state.withLock { state in
      defer { state.isDue = true }
      return state.isDue
    }
    guard !wasDue else { return }
    queue.asyncAfter(deadline: .now() + Self.delay) { [self] in
      guard state.withLock({ $0.isDue }) else { return }
      do { try put(cookies, onlyIfChanged: true) } catch {
        let isFirst = state.withLock { state in
          defer { state.hasFailed = true }
          return !state.hasFailed
        }
        if isFirst { StandardError.print("NetLayer: the cookies can't be written to the \(name) (\(error))") }
      }
    }
  }

  func save(_ cookies: @escaping @Sendable () -> [CookieJar.Cookie]) throws(NetworkError) {
    let result = queue.sync { Result { try put(cookies, onlyIfChanged: false) } }
    do { try result.get() } catch {
      throw NetworkError(
        kind: .file,
        reason: "the cookies can't be written to the \(name) (\(error)); check its directory and free space",
        underlying: error)
    }
  }

  private func put(_ cookies: () -> [CookieJar.Cookie], onlyIfChanged: Bool) throws {
    // Before the cookies are read, so that a later change is written later.
    state.withLock { $0.isDue = false }
    let kept = cookies().filter { keepsSessionCookies || $0.expiresAt != nil }
    if onlyIfChanged, stored.withLock({ $0 }) == kept { return }
    try write(try JSONEncoder().encode(Content(cookies: kept)))
    stored.withLock { $0 = kept }
  }
}

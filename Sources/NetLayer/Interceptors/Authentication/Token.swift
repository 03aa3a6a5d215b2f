import PortableFoundation
import Streams

/// The credentials of a client (RFC 6749 §5.1).
public struct Token: Sendable, Hashable, Codable, CustomStringConvertible {
  /// The access token that requests carry.
  public var access: String
  /// The refresh token; `nil` if a refresh does not need one.
  public var refresh: String?
  /// The expiry date of `access`; `nil` if unknown.
  public var expiresAt: Date?
  /// An identifier of the user, which is not sent; `nil` to let the access token identify the user.
  ///
  /// A refreshed token without an account keeps the account of the old token.
  public var account: String?
  /// The subject of the ID token, whatever the account is called; `nil` if there was none.
  package var subject: String?

  /// Creates a token.
  public init(access: String, refresh: String? = nil, expiresAt: Date? = nil, account: String? = nil) {
    self.access = access
    self.refresh = refresh
    self.expiresAt = expiresAt
    self.account = account
  }

  /// The user for whom responses are stored and shared.
  var owner: String { account ?? access }

  func isKnownToBelong(toOwnerOf other: Token?) -> Bool { account != nil && account == other?.account }

  func isKnownNotToBelong(toOwnerOf other: Token?) -> Bool {
    account.flatMap { own in other?.account.map { $0 != own } } ?? false
  }

  /// Returns the time to replace a token of unknown age before it expires.
  func renewal(_ leeway: Double) -> Date? { expiresAt?.addingTimeInterval(-leeway) }

  /// Returns the time to replace a new token: one request's duration before its expiry, but not before half of its
  /// lifetime. A token that expired in transit only shows that the clocks differ.
  func renewal(_ leeway: Double, ofNewAt now: Date) -> Date? {
    guard let left = expiresAt?.timeIntervalSince(now), left > 0 else { return nil }
    return expiresAt?.addingTimeInterval(-min(leeway, left / 2))
  }

  /// A description without secrets.
  public var description: String { "Token(***\(expiresAt.map { ", until \($0)" } ?? ""))" }
}

extension Token: CustomReflectable {
  /// A mirror without secrets.
  public var customMirror: Mirror {
    Mirror(
      self,
      children: [
        "access": "***", "refresh": refresh.map { _ in "***" } as Any, "expiresAt": expiresAt as Any,
        "account": account as Any,
      ])
  }
}

/// A store that keeps the token between runs of the program.
public protocol TokenStore: Sendable {
  /// Returns the saved token, or `nil` for none. The interceptor calls it at the first request, and before and after each
  /// refresh, because another process may have saved a new token, or removed it. It also calls it after a save, until the
  /// store has returned a token once.
  func load() async throws -> Token?
  /// Saves `token`; `nil` removes it. It is called after each refresh, sign-in and sign-out, once at a time. It must not
  /// wait for `setToken`.
  func save(_ token: Token?) async throws
  /// Locks the store against refreshes by other processes until the result is disposed. Return `nil` if another process
  /// holds the lock; the method is then called again every 50 ms. If it throws, the
  /// refresh continues without a lock. A sign-in or sign-out also takes the lock, and saves without it after 5 s.
  ///
  /// A store of a single process doesn't need this method.
  func lockForRefresh() async throws -> (any Disposable)?
}

extension TokenStore {
  /// Returns a lock that has no effect, because the token is not shared between processes.
  public func lockForRefresh() -> (any Disposable)? { Disposables.create() }
}

/// A store that keeps the token in memory until the program exits.
public final class MemoryTokenStore: TokenStore {
  /// Guards the token, which is copied for the refresh.
  private let token: Locked<Token?>

  /// Creates a store with `token`.
  public init(_ token: Token? = nil) { self.token = Locked(token) }

  /// Returns the token.
  public func load() -> Token? { token.withLock { $0 } }

  /// Stores `token`.
  public func save(_ token: Token?) { self.token.withLock { $0 = token } }
}

/// A store that keeps the token in a file with mode 0600, for one or several processes.
///
/// Use it for command-line tools and services. In apps on Apple platforms, use `KeychainTokenStore`.
public struct FileTokenStore: TokenStore {
  /// The file.
  public let file: URL

  /// Creates a store in `file`. Its directory is created with mode 0700 if it is missing.
  public init(storingIn file: URL) { self.file = file }

  /// Returns the token in the file, or `nil` if there is no file.
  ///
  /// - Throws: `NetworkError` of kind `file` for a file that can't be read or does not contain a token.
  public func load() throws -> Token? {
    do {
      guard let (content, isOwn) = try DurableFile(file).read() else { return nil }
      guard isOwn else { throw Refusal("another user can write to it") }
      switch content {
      case .intact(let text): return try JSONDecoder().decode(Token.self, from: text)
      case .damaged, .unknown: throw Refusal("it is damaged")
      }
    } catch {
      throw failure("read", error)
    }
  }

  /// Writes `token` atomically: another process reads either the old or the new token. `nil` removes the file.
  ///
  /// - Throws: `NetworkError` of kind `file`.
  public func save(_ token: Token?) throws {
    do {
      let file = try DurableFile(file)
      guard let token else { return try file.remove() }
      try file.write(try JSONEncoder().encode(token))
    } catch {
      throw failure("written", error)
    }
  }

  /// Locks the file `file` plus `.lock`, which is not removed. The lock also ends with the process.
  ///
  /// - Throws: `NetworkError` of kind `file`.
  public func lockForRefresh() throws -> (any Disposable)? {
    do {
      return try DurableFile(file).lock().map { lock in Disposables.create { closeDescriptor(lock) } }
    } catch {
      throw failure("locked", error)
    }
  }

  private struct Refusal: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }

  private func failure(_ verb: String, _ error: any Error) -> NetworkError {
    let remedy = error is FolderError ? "create the folder" : "remove it"
    return NetworkError(
      kind: .file,
      reason: "the token file \(file.path) can't be \(verb) (\(error)); \(remedy), or choose another file for the "
        + "FileTokenStore", underlying: error)
  }
}

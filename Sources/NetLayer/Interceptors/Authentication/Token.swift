import PortableFoundation
import Streams

/// What proves to a server who is calling (RFC 6749 §5.1).
public struct Token: Sendable, Hashable, Codable, CustomStringConvertible {
  /// What requests carry.
  public var access: String
  /// What a new token is got for; `nil` where it takes something else.
  public var refresh: String?
  /// When `access` ends to be valid; `nil` when unknown.
  public var expiry: Date?

  /// A token.
  public init(access: String, refresh: String? = nil, expiry: Date? = nil) {
    self.access = access
    self.refresh = refresh
    self.expiry = expiry
  }

  /// Says nothing of its secrets.
  public var description: String { "Token(***\(expiry.map { ", until \($0)" } ?? ""))" }
}

/// Where the token stays between two runs of the program.
public protocol TokenStore: Sendable {
  /// The token that was saved; `nil` for none. Called at the first request, on its thread, and before each refresh, as
  /// another process may have saved a new one.
  func load() throws -> Token?
  /// Saves `token`; `nil` removes it. Called where a refresh ended.
  func save(_ token: Token?) throws
  /// Locks the store against the refreshes of other processes, until the result is disposed of; `nil` where another has
  /// locked it, which is then asked for again every 50 ms. It must not block. A refresh that cannot lock goes on without.
  ///
  /// A store that is one process's own need not write this method.
  func lockForRefresh() throws -> (any Disposable)?
}

extension TokenStore {
  /// Locks nothing.
  public func lockForRefresh() -> (any Disposable)? { Disposables.create() }
}

/// Keeps the token in memory: it is gone with the program.
public final class MemoryTokenStore: TokenStore {
  /// Copies a value, for the refresh.
  private let token: Locked<Token?>

  /// A store with `token`.
  public init(_ token: Token? = nil) { self.token = Locked(token) }

  /// The token.
  public func load() -> Token? { token.withLock { $0 } }

  /// Keeps `token`.
  public func save(_ token: Token?) { self.token.withLock { $0 = token } }
}

/// Keeps the token in a file that only its owner may read and write (mode 0600), for one process or several.
///
/// For command-line tools and services; on Apple platforms an app's secrets belong into the keychain, behind a
/// `TokenStore` of its own.
public struct FileTokenStore: TokenStore {
  /// The file.
  public let file: URL

  /// A store in `file`, whose directory must exist.
  public init(_ file: URL) { self.file = file }

  /// The token in the file; `nil` where there is no file.
  ///
  /// - Throws: `NetworkError` of kind `file` for a file that can't be read or is no token.
  public func load() throws -> Token? {
    do {
      return try JSONDecoder().decode(Token.self, from: Data(contentsOf: file))
    } catch let error as CocoaError where error.code == .fileReadNoSuchFile || error.code == .fileNoSuchFile {
      return nil
    } catch {
      throw failure("read", error)
    }
  }

  /// Writes `token` in one step: another process sees the old one or the new one. `nil` removes the file.
  ///
  /// - Throws: `NetworkError` of kind `file`.
  public func save(_ token: Token?) throws {
    do {
      guard let token else {
        if FileManager.default.fileExists(atPath: file.path) { try FileManager.default.removeItem(at: file) }
        return
      }
      // Made with its mode, as a chmod afterwards would leave a moment in which others can read it.
      let temporary = file.appendingPathExtension(UUID().uuidString)
      let descriptor = open(temporary.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw SystemError.last }
      do {
        defer { _ = close(descriptor) }
        guard writeAll(try JSONEncoder().encode(token), to: descriptor), fsync(descriptor) == 0 else {
          throw SystemError.last
        }
        guard rename(temporary.path, file.path) == 0 else { throw SystemError.last }
      } catch {
        try? FileManager.default.removeItem(at: temporary)
        throw error
      }
    } catch {
      throw failure("written", error)
    }
  }

  /// Locks `file` with `.lock` at its end of the name, which stays. The lock ends with the process, too.
  ///
  /// - Throws: `NetworkError` of kind `file`.
  public func lockForRefresh() throws -> (any Disposable)? {
    let descriptor = open(file.path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw failure("locked", SystemError.last) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let error = SystemError.last
      close(descriptor)
      guard error.code == .EWOULDBLOCK else { throw failure("locked", error) }
      return nil
    }
    return Disposables.create { close(descriptor) }
  }

  private func failure(_ verb: String, _ error: any Error) -> NetworkError {
    let remedy = "remove it, or choose another file for the FileTokenStore"
    return NetworkError(
      kind: .file, reason: "the token file \(file.path) can't be \(verb) (\(error)); \(remedy)", underlying: error)
  }
}

import PortableFoundation
import Streams

/// A type that knows the user for whom it authenticates requests: an interceptor, a ``Signer`` or a transport.
///
/// ``AuthenticationInterceptor`` and ``ChallengeInterceptor`` are sources.
///
/// A call belongs to the users who are signed in when it begins. It carries no credentials of another user, and receives no
/// response of another user: it fails with kind `authentication` instead. An interceptor reads its session once in
/// `intercept`, and passes credentials whose account is the name of that user.
///
/// Queries, uploads and the outbox follow the sources: the guide <doc:AuthenticatingRequests> has the table. If several
/// cover a request, an entry of the outbox belongs to the user of the first one, in the order of the interceptors.
public protocol AccountSource: AnyObject, Sendable {
  /// The present user. It is read on any thread, before each request, and must not block.
  var accountState: AccountState { get }
  /// A signal that ``accountState`` may have changed, emitted after each change; `nil` if the user never changes, as with a
  /// password in code or a certificate.
  var accountChanges: Observable<Void>? { get }
  /// Returns whether the source authenticates `request`, which is the request before interceptors change it. It must not
  /// block.
  func covers(_ request: Request) -> Bool
  /// Returns whether the server has rejected the user's credentials with `response`, so that an entry of an outbox waits for
  /// a new sign-in. The default is a status 401.
  func rejects(_ response: Response) -> Bool
  /// Waits until ``accountState`` is known, for a source that reads it asynchronously. The default returns immediately.
  ///
  /// - Throws: Any error; the call that needs the user fails with it, and an outbox tries again later.
  func loadAccount() async throws
}

extension AccountSource {
  /// Returns whether the status is 401.
  public func rejects(_ response: Response) -> Bool { response.status == 401 }
  /// Returns immediately.
  public func loadAccount() async throws {}
}

/// A source that records the credentials of each request in `Request.credentials`.
protocol RecordsCredentials: AccountSource {
  /// Returns whether a request that it covers will carry credentials, as far as is known before it is sent.
  func authenticates(_ request: Request) -> Bool
}

extension RecordsCredentials {
  func authenticates(_ request: Request) -> Bool { true }
}

/// The user of an ``AccountSource`` at one moment.
public struct AccountState: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
  enum User: Sendable, Hashable {
    case unknown, nobody, named(String)
    /// A user without a name, and the text that stands for the user, such as the token.
    case unnamed(String)
  }

  let user: User
  /// The number of sign-ins and sign-outs, from a source that counts them; `nil` from others. It tells users without a name
  /// apart, and those before the first look.
  private let signIns: Int?

  init(_ user: User, signIns: Int? = nil) { (self.user, self.signIns) = (user, signIns) }

  /// The user is not known yet. To become known is not a change.
  public static let unknown = AccountState(.unknown)
  /// Nobody is signed in.
  public static let nobody = AccountState(.nobody)
  /// Returns the state of a signed-in user. The name is stored on disk by an outbox: don't pass a secret.
  public static func user(_ name: String) -> AccountState { AccountState(.named(name)) }

  /// Compares the users.
  public static func == (a: AccountState, b: AccountState) -> Bool { a.user == b.user }
  /// Hashes the user.
  public func hash(into hasher: inout Hasher) { hasher.combine(user) }

  /// The name of the user, or a text without the token of a user without a name.
  public var description: String {
    switch user {
    case .unknown: "unknown"
    case .nobody: "nobody"
    case .named(let name): name
    case .unnamed: "a user without a name"
    }
  }
  /// A mirror without secrets.
  public var customMirror: Mirror { Mirror(self, children: ["user": description]) }

  /// The name; `nil` for nobody, and for a user without a name.
  public var name: String? { if case .named(let name) = user { name } else { nil } }

  /// The text that stands for the user in the keys of caches; a text of its own while the user is unknown.
  var account: String? {
    switch user {
    case .unknown: UUID().uuidString
    case .nobody: nil
    case .named(let text), .unnamed(let text): text
    }
  }

  var isUser: Bool {
    switch user {
    case .nobody, .unknown: false
    case .named, .unnamed: true
    }
  }

  /// Returns whether a user was signed in in the sign-in `number`, so that the names need no comparison.
  func isUser(since number: Int) -> Bool { isUser && signIns == number }

  /// Returns whether another user has signed in or out since `former`.
  func differs(from former: AccountState) -> Bool {
    if case .named(let old) = former.user, case .named(let new) = user { return old != new }
    if let signIns, let old = former.signIns { return signIns != old }
    return user != former.user && user != .unknown && former.user != .unknown
  }
}

import PortableFoundation

/// Whom an interceptor has authenticated a request as, by which header fields.
///
/// An interceptor that adds credentials appends one to `request.context[Authentication.self]`, and says the same account
/// beforehand in ``Interceptor/account(of:)``: ``CacheInterceptor`` keeps a response for the account that it was sent as, and
/// ``CoalescingInterceptor`` shares no exchange between two.
public struct Authentication: Sendable, ContextKey {
  /// Nobody has authenticated it.
  public static let defaultValue: [Authentication] = []

  /// What tells users apart: an id, or the token itself. It is not sent.
  public var account: String
  /// The header fields that carry the credentials, as they were set.
  public var fields: HTTPHeaders

  /// An authentication as `account`, by `fields`.
  public init(account: String, fields: HTTPHeaders) {
    self.account = account
    self.fields = fields
  }

  /// Several accounts as one; `nil` where there is none.
  static func joined(_ accounts: [String]) -> String? {
    accounts.count < 2 ? accounts.first : accounts.map { "\($0.utf8.count):\($0)" }.joined()
  }
}

extension ArraySlice<any Interceptor> {
  /// Whom they will authenticate `request` as; `nil` for nobody.
  func account(of request: Request) -> String? { Authentication.joined(compactMap { $0.account(of: request) }) }
}

/// Whether the caller of a request hears how far it is, so that no other's exchange will do.
enum ReportsProgress: ContextKey {
  static let defaultValue = false
}

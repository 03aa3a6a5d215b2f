import Foundation

/// Whom a request is authenticated as, said by an interceptor that adds credentials.
///
/// Interceptors further out keep users apart by it: ``CacheInterceptor`` and ``CoalescingInterceptor``. Such an interceptor
/// says it in ``Interceptor/prepare(_:)``, without `fields`, and in `intercept` with the fields that it has added.
public struct Authentication: Sendable, Hashable, ContextKey {
  /// Nobody.
  public static var defaultValue: Authentication? { nil }

  /// What tells users apart: an id, or the token itself. It is not sent.
  public var account: String
  /// The names of the header fields that carry the credentials; `nil` until they have been added.
  public var fields: [String]?

  /// An authentication as `account`, by the header fields called `fields`.
  public init(account: String, fields: [String]? = nil) {
    self.account = account
    self.fields = fields
  }
}

/// Whether the caller of a request hears how far it is, so that no other's exchange will do.
enum ReportsProgress: ContextKey {
  static let defaultValue = false
}

/// One page of a list, and where the next one begins (article row 0.22).
public struct Page<Item> {
  /// The items, in the server's order.
  public var items: [Item]
  /// What to send for the next page; `nil` on the last one.
  public var cursor: String?
  /// The hash of the bytes that the items were made of; `nil` for a page that came from no response.
  var fingerprint: Int?

  /// A page of `items`.
  public init(items: [Item], cursor: String? = nil) {
    self.items = items
    self.cursor = cursor
  }

  /// Whether this has the items of `other`: by the bytes that they came in, and where there are none, by the items, if these
  /// can be compared.
  func repeats(_ other: Page) -> Bool {
    guard fingerprint == nil, other.fingerprint == nil else { return fingerprint == other.fingerprint }
    let items: Any = items
    return (items as? any Equatable)?.isEqual(to: other.items) ?? false
  }
}

extension Page: Sendable where Item: Sendable {}

extension Page: Equatable where Item: Equatable {
  /// Whether both have the same items and cursor.
  public static func == (a: Page, b: Page) -> Bool { a.items == b.items && a.cursor == b.cursor }
}

extension Equatable {
  fileprivate func isEqual(to other: Any) -> Bool { other as? Self == self }
}

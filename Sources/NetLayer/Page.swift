/// One page of a list, with the cursor of the next page.
public struct Page<Item> {
  /// The items, in the server's order.
  public var items: [Item]
  /// The cursor to send for the next page; `nil` on the last page.
  public var cursor: String?
  /// The response with the page, for the other members of its body, such as `included` or `total`, and its header fields;
  /// `nil` for a page that was created from items.
  public internal(set) var response: Response?
  /// The hash of the bytes that contained the items; `nil` for a page that was not read from a response.
  var fingerprint: Int?

  /// Creates a page of `items`.
  public init(items: [Item], cursor: String? = nil) {
    self.items = items
    self.cursor = cursor
  }

  /// Returns whether both pages have the same items.
  func repeats(_ other: Page) -> Bool {
    guard fingerprint == nil, other.fingerprint == nil else { return fingerprint == other.fingerprint }
    let items: Any = items
    return (items as? any Equatable)?.isEqual(to: other.items) ?? false
  }
}

extension Page: Sendable where Item: Sendable {}

extension Page: Equatable where Item: Equatable {
  /// Returns whether both pages have the same items and cursor.
  public static func == (a: Page, b: Page) -> Bool { a.items == b.items && a.cursor == b.cursor }
}

extension Equatable {
  fileprivate func isEqual(to other: Any) -> Bool { other as? Self == self }
}

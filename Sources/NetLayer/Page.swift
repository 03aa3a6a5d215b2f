/// One page of a list, and where the next one begins (article row 0.22).
public struct Page<Item> {
  /// The items, in the server's order.
  public var items: [Item]
  /// What to send for the next page; `nil` on the last one.
  public var cursor: String?

  /// A page of `items`.
  public init(items: [Item], cursor: String? = nil) {
    self.items = items
    self.cursor = cursor
  }
}

extension Page: Sendable where Item: Sendable {}
extension Page: Equatable where Item: Equatable {}

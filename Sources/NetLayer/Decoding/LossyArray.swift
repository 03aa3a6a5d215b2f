/// An array that keeps the items that can be decoded, and the first errors of the other items.
///
/// ```swift
/// struct Feed: Decodable { var posts: LossyArray<Post> }
/// ```
/// Read the items as `feed.posts.items`.
public struct LossyArray<Item: Decodable>: Decodable {
  /// The decoded items, in order.
  public var items: [Item] = []
  /// The indexes and errors of the first 100 items that can't be decoded. An error takes a hundred times the memory of
  /// a short item.
  public var failures: [(index: Int, error: any Error)] = []
  /// The number of items that can't be decoded.
  public var failureCount = 0

  /// Decodes an array; any other value is an error.
  public init(from decoder: any Decoder) throws {
    var container = try decoder.unkeyedContainer()
    while !container.isAtEnd {
      let index = container.currentIndex
      do {
        items.append(try container.decode(Item.self))
      } catch {
        failureCount += 1
        if failures.count < 100 { failures.append((index, error)) }
        // A decoder does not advance past an item that it can't read.
        if container.currentIndex == index { _ = try container.decode(Anything.self) }
      }
    }
  }

  private struct Anything: Decodable { init(from decoder: any Decoder) throws {} }
}

extension LossyArray: Sendable where Item: Sendable {}

/// A member that is an array of which only the items count that can be decoded, with the errors of the others.
///
/// ```swift
/// struct Feed: Decodable { var posts: LossyArray<Post> }
/// ```
/// Read it as `feed.posts.items`.
public struct LossyArray<Item: Decodable>: Decodable {
  /// The good items, in order.
  public var items: [Item] = []
  /// The places and errors of the bad ones.
  public var failures: [(index: Int, error: any Error)] = []

  /// Takes an array; anything else is an error.
  public init(from decoder: any Decoder) throws {
    var container = try decoder.unkeyedContainer()
    while !container.isAtEnd {
      let index = container.currentIndex
      do {
        items.append(try container.decode(Item.self))
      } catch {
        failures.append((index, error))
        // A decoder stays at an item that it could not read.
        if container.currentIndex == index { _ = try container.decode(Anything.self) }
      }
    }
  }

  private struct Anything: Decodable { init(from decoder: any Decoder) throws {} }
}

extension LossyArray: Sendable where Item: Sendable {}

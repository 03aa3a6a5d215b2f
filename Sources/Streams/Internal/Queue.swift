/// A first-in first-out queue in a ring buffer; appending and removing take constant time.
@usableFromInline
package struct Queue<Element> {
  @usableFromInline var ring: [Element?] = []
  @usableFromInline var head = 0
  @usableFromInline var count = 0

  @inlinable package init() {}

  @inlinable package var isEmpty: Bool { count == 0 }

  @inlinable
  package mutating func append(_ element: Element) {
    if count == ring.count { grow() }
    ring[(head &+ count) & (ring.count &- 1)] = element
    count &+= 1
  }

  @inlinable
  package mutating func popFirst() -> Element? {
    guard count > 0 else { return nil }
    let element = ring[head].take()
    head = (head &+ 1) & (ring.count &- 1)
    count &-= 1
    return element
  }

  /// Appends `element`, and removes and returns the oldest element.
  @inlinable
  mutating func rotate(_ element: Element) -> Element? {
    guard count == 1 else {
      let oldest = popFirst()
      append(element)
      return oldest
    }
    let oldest = ring[head]
    ring[head] = element
    return oldest
  }

  @inlinable var first: Element? { count > 0 ? ring[head] : nil }

  @inlinable var last: Element? { count > 0 ? ring[(head &+ count &- 1) & (ring.count &- 1)] : nil }

  /// The element after `offset` older ones; `nil` beyond the newest.
  @inlinable
  subscript(offset: Int) -> Element? { offset < count ? ring[(head &+ offset) & (ring.count &- 1)] : nil }

  /// Returns the newest `length` elements, oldest first.
  @inlinable
  func last(_ length: Int) -> [Element] { (count &- length..<count).compactMap { self[$0] } }

  @inlinable
  mutating func grow() {
    // The size stays a power of two, so that a mask wraps the index.
    var larger: [Element?] = []
    larger.reserveCapacity(Swift.max(8, ring.count * 2))
    for offset in 0..<count { larger.append(ring[(head &+ offset) & (ring.count &- 1)]) }
    while larger.count < Swift.max(8, ring.count * 2) { larger.append(nil) }
    ring = larger
    head = 0
  }
}

extension Queue: Sendable where Element: Sendable {}

/// A binary heap: the smallest element is known, whatever the number of elements.
@usableFromInline package struct Heap<Element: Comparable> {
  @usableFromInline package var elements: [Element]

  @inlinable
  package init(_ elements: [Element] = []) {
    // A sorted array is a heap.
    self.elements = elements.sorted()
  }

  @inlinable package var first: Element? { elements.first }

  @inlinable
  package mutating func insert(_ element: Element) {
    var child = elements.count
    elements.append(element)
    while child > 0, elements[child] < elements[(child - 1) / 2] {
      elements.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  @inlinable @discardableResult
  package mutating func removeFirst() -> Element? {
    guard let last = elements.popLast() else { return nil }
    guard let first = elements.first else { return last }
    elements[0] = last
    var parent = 0
    while true {
      var least = parent
      for child in 2 * parent + 1...2 * parent + 2 where child < elements.count && elements[child] < elements[least] {
        least = child
      }
      guard least != parent else { return first }
      elements.swapAt(parent, least)
      parent = least
    }
  }
}

extension Heap: Sendable where Element: Sendable {}

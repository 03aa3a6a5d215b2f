/// Elements of which the smallest one is known, whatever their number.
package struct Heap<Element: Comparable> {
  private(set) var elements: [Element]

  package init(_ elements: [Element] = []) {
    // A sorted array is a heap.
    self.elements = elements.sorted()
  }

  package var first: Element? { elements.first }

  package mutating func insert(_ element: Element) {
    var child = elements.count
    elements.append(element)
    while child > 0, elements[child] < elements[(child - 1) / 2] {
      elements.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  @discardableResult
  package mutating func removeFirst() -> Element? {
    guard let last = elements.popLast() else { return nil }
    guard let first = elements.first else { return last }
    elements[0] = last
    var parent = 0
    while let child = [2 * parent + 1, 2 * parent + 2].filter({ $0 < elements.count }).min(by: {
      elements[$0] < elements[$1]
    }),
      elements[child] < elements[parent]
    {
      elements.swapAt(child, parent)
      parent = child
    }
    return first
  }
}

/// An array in the order of the keys of its elements, which are unique.
extension Array {
  /// Returns the place of the first element whose key is not below `key`.
  private func place<Key: Comparable>(of key: Key, _ keyOf: (Element) -> Key) -> Int {
    // Most keys grow.
    if let last, keyOf(last) < key { return count }
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if keyOf(self[middle]) < key { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Inserts `element`, whose key the array does not contain.
  package mutating func insertInOrder<Key: Comparable>(_ element: Element, by keyOf: (Element) -> Key) {
    insert(element, at: place(of: keyOf(element), keyOf))
  }

  /// Removes the element of `key`, and returns it; `nil` if there is none.
  @discardableResult
  package mutating func removeInOrder<Key: Comparable>(_ key: Key, by keyOf: (Element) -> Key) -> Element? {
    let place = place(of: key, keyOf)
    return place < count && keyOf(self[place]) == key ? remove(at: place) : nil
  }
}

extension Array where Element: Comparable {
  /// Inserts `element`, which the array does not contain.
  package mutating func insertInOrder(_ element: Element) { insertInOrder(element) { $0 } }

  /// Removes `element`, if it is there.
  package mutating func removeInOrder(_ element: Element) { removeInOrder(element) { $0 } }
}

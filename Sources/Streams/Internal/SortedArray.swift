/// An array in the order of the keys of its elements, which are unique.
extension Array {
  /// Returns the index of the first element whose key is not below `key`.
  @inlinable
  package func place<Key: Comparable>(of key: Key, by keyOf: (Element) -> Key) -> Int {
    // Most keys grow.
    if let last, keyOf(last) < key { return count }
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if keyOf(self[middle]) < key { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Returns the index of the element of `key`; `nil` if no element has it.
  @inlinable
  package func index<Key: Comparable>(of key: Key, by keyOf: (Element) -> Key) -> Int? {
    let place = place(of: key, by: keyOf)
    return place < count && keyOf(self[place]) == key ? place : nil
  }

  /// Inserts `element`, whose key no other element has.
  @inlinable
  package mutating func insertInOrder<Key: Comparable>(_ element: Element, by keyOf: (Element) -> Key) {
    insert(element, at: place(of: keyOf(element), by: keyOf))
  }

  /// Removes the element of `key`, and returns it; `nil` if no element has it.
  @inlinable @discardableResult
  package mutating func removeInOrder<Key: Comparable>(_ key: Key, by keyOf: (Element) -> Key) -> Element? {
    index(of: key, by: keyOf).map { remove(at: $0) }
  }
}

extension Array where Element: Comparable {
  /// Inserts `element`, which the array does not contain.
  @inlinable
  package mutating func insertInOrder(_ element: Element) { insertInOrder(element) { $0 } }

  /// Removes `element`, if the array contains it.
  @inlinable
  package mutating func removeInOrder(_ element: Element) { removeInOrder(element) { $0 } }
}

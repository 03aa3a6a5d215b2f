/// Elements of which the smallest one is known, whatever their number.
struct Heap<Element: Comparable> {
  private var elements: [Element]

  init(_ elements: [Element] = []) {
    // A sorted array is a heap.
    self.elements = elements.sorted()
  }

  var first: Element? { elements.first }

  mutating func insert(_ element: Element) {
    var child = elements.count
    elements.append(element)
    while child > 0, elements[child] < elements[(child - 1) / 2] {
      elements.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  @discardableResult
  mutating func removeFirst() -> Element? {
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

extension Array where Element: Comparable {
  /// Returns the place of `element` in a sorted array.
  private func place(of element: Element) -> Int {
    if let last, last < element { return count }
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < element { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Inserts `element` into a sorted array, which does not contain it.
  mutating func insertInOrder(_ element: Element) { insert(element, at: place(of: element)) }

  /// Removes `element` from a sorted array, if it is there.
  mutating func removeInOrder(_ element: Element) {
    let place = place(of: element)
    if place < count, self[place] == element { remove(at: place) }
  }
}

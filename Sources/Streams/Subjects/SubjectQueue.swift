/// The elements of a subject in the order of their acceptance, the newest with the number `accepted`. The queue holds
/// the last `capacity` elements, those that the sender has not taken, and those that a replaying listener has not read.
@usableFromInline
struct SubjectQueue<Element> {
  @usableFromInline let capacity: Int
  @usableFromInline var elements = Queue<Element>()
  @usableFromInline var accepted = 0
  // The number of the last element that the sender has taken.
  @usableFromInline var sent = 0
  // For each replaying listener, the number of the last element that it has read.
  @usableFromInline var readers: [ObjectIdentifier: Int] = [:]

  @inlinable
  init(_ initial: [Element], capacity: Int) {
    self.capacity = capacity
    for element in initial { elements.append(element) }
    (accepted, sent) = (initial.count, initial.count)
  }

  /// The number of the oldest element.
  @inlinable var oldest: Int { accepted &- elements.count &+ 1 }

  /// Appends `element`, and returns the oldest element if it is no longer needed.
  @inlinable @inline(__always)
  mutating func append(_ element: Element) -> Element? {
    let holdsBufferOnly = elements.count == capacity && sent == accepted
    accepted &+= 1
    // Compares nothing else in the frequent case (rows behavior, relay, replay and share1).
    if holdsBufferOnly, readers.isEmpty { return elements.rotate(element) }
    elements.append(element)
    return nil
  }

  /// Returns the next element to send, and the oldest one if it is no longer needed; `nil` if all have been taken.
  @inlinable
  mutating func takeNext() -> (element: Element, number: Int, dropped: Element?)? {
    guard sent < accepted, let element = elements[elements.count &- (accepted &- sent)] else { return nil }
    sent &+= 1
    return (element, sent, trimOldest())
  }

  /// The elements of the buffer.
  @inlinable var stored: [Element] { elements.last(Swift.min(capacity, elements.count)) }

  /// Returns the elements that `reader` has not read; at first, those of the buffer.
  @inlinable
  mutating func read(_ reader: ObjectIdentifier) -> [Element] {
    defer { readers[reader] = accepted }
    return readers[reader].map { elements.last(accepted &- $0) } ?? stored
  }

  /// Ends the replay of `reader`, and returns the elements that are no longer needed.
  @inlinable
  mutating func leave(_ reader: ObjectIdentifier) -> [Element] {
    readers[reader] = nil
    return trim()
  }

  /// Removes and returns the elements that are no longer needed.
  @inlinable
  mutating func trim() -> [Element] {
    var dropped: [Element] = []
    while let element = trimOldest() { dropped.append(element) }
    return dropped
  }

  @inlinable
  mutating func trimOldest() -> Element? {
    guard elements.count > capacity, oldest <= sent, readers.values.allSatisfy({ $0 >= oldest }) else { return nil }
    return elements.popFirst()
  }
}

import PortableFoundation

/// What one or many `JSON` values read from: an index, and what the layer above wants to travel with them.
final class JSONDocument: Sendable {
  let index: JSONIndex
  /// Nothing here looks at it.
  let context: (any AnyObject & Sendable)?

  init(_ index: JSONIndex, context: (any AnyObject & Sendable)? = nil) {
    self.index = index
    self.context = context
  }

  /// No text at all, for values that are not there.
  static let empty = JSONDocument(.empty)
}

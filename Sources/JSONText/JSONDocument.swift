import PortableFoundation

/// The shared storage of `JSON` values: an index and a context that upper modules attach.
final class JSONDocument: Sendable {
  let index: JSONIndex
  /// The attached context; this module does not use it.
  let context: (any AnyObject & Sendable)?

  init(_ index: JSONIndex, context: (any AnyObject & Sendable)? = nil) {
    self.index = index
    self.context = context
  }

  /// An empty document, for missing values.
  static let empty = JSONDocument(.empty)
}

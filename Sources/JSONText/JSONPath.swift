import PortableFoundation

/// A path into a value, written `data.items[0].name`.
///
/// Dots and brackets separate keys, so a path cannot refer to a key that contains one of them.
package struct JSONPath: Sendable, Hashable {
  package enum Step: Sendable, Hashable {
    case key(String)
    case index(Int)
  }

  var steps: [Step]

  /// Parses a path; the empty path is the value itself.
  ///
  /// Returns `nil` if the path is malformed: an empty key, an unmatched bracket, or an index that is not a number.
  package init?(_ text: String) {
    steps = []
    guard !text.isEmpty else { return }
    for part in text.split(separator: ".", omittingEmptySubsequences: false) {
      guard let key = part.split(separator: "[", maxSplits: 1, omittingEmptySubsequences: false).first else {
        return nil
      }
      var rest = part[key.endIndex...]
      // A path may begin with an index, such as `[0].name`; a later part may not.
      guard !key.isEmpty || (steps.isEmpty && !rest.isEmpty), !key.contains("]") else { return nil }
      if !key.isEmpty { steps.append(.key(String(key))) }
      while !rest.isEmpty {
        guard rest.first == "[", let close = rest.firstIndex(of: "]") else { return nil }
        let digits = rest[rest.index(after: rest.startIndex)..<close]
        guard let index = Int(digits: digits) else { return nil }
        steps.append(.index(index))
        rest = rest[rest.index(after: close)...]
      }
    }
  }

  /// The steps as they appear in a coding path.
  package var codingPath: [String] {
    steps.map { step in
      switch step {
      case .key(let key): key
      case .index(let index): String(index)
      }
    }
  }
}

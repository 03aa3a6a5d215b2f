/// Steps into a value, written `data.items[0].name`.
///
/// Keys are what stands between dots and brackets, so a key that has one of these in it is out of a path's reach.
package struct JSONPath: Sendable, Hashable {
  package enum Step: Sendable, Hashable {
    case key(String)
    case index(Int)
  }

  var steps: [Step]

  /// `nil` if the path is malformed: an empty key, a bracket without its partner, an index that is no number.
  /// The empty path is the value itself.
  package init?(_ text: String) {
    steps = []
    guard !text.isEmpty else { return }
    for part in text.split(separator: ".", omittingEmptySubsequences: false) {
      guard let key = part.split(separator: "[", maxSplits: 1, omittingEmptySubsequences: false).first else {
        return nil
      }
      var rest = part[key.endIndex...]
      // A path may begin with an index, `[0].name`; a later part may not.
      guard !key.isEmpty || (steps.isEmpty && !rest.isEmpty), !key.contains("]") else { return nil }
      if !key.isEmpty { steps.append(.key(String(key))) }
      while !rest.isEmpty {
        guard rest.first == "[", let close = rest.firstIndex(of: "]") else { return nil }
        let digits = rest[rest.index(after: rest.startIndex)..<close]
        guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isNumber }), let index = Int(digits) else {
          return nil
        }
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

/// The keys from the root to a value. Adding one takes the same time at each depth; an array would copy all others.
struct EncodingPath {
  private final class Step {
    let key: any CodingKey
    let parent: Step?

    init(_ key: any CodingKey, _ parent: Step?) { (self.key, self.parent) = (key, parent) }
  }

  private var last: Step?

  /// The keys, the outermost first.
  var keys: [any CodingKey] {
    var keys: [any CodingKey] = []
    var step = last
    while let current = step {
      keys.append(current.key)
      step = current.parent
    }
    return keys.reversed()
  }

  func adding(_ key: any CodingKey) -> EncodingPath {
    var path = self
    path.last = Step(key, last)
    return path
  }
}

import PortableFoundation

extension DecodingSession {
  /// Returns the keys that lead to a place; computed only on demand.
  func path(to place: DecodingPlace, adding last: (any CodingKey)? = nil) -> [any CodingKey] {
    var path = prefix
    let dictionaries = options.convertsKeys ? dictionaries : []
    read { reader in
      // The containers from the place up to the root.
      var steps: [(position: Int, parent: Int, ordinal: Int)] = []
      if place.parent != JSONDocument.none {
        steps.append((Int(place.position), Int(place.parent), Int(place.ordinal)))
        while let step = steps.last, step.parent != root, let outer = reader.parent(of: step.parent) {
          steps.append((step.parent, outer.position, outer.ordinal))
        }
      }
      for step in steps.reversed() {
        if reader.word(step.parent).kind == .object {
          let name = reader.string(reader.word(step.position - 1))
          path.append(
            options.convertsKeys && !dictionaries.contains(step.parent)
              ? JSONKey(converted(name, after: path)) : JSONKey(name))
        } else {
          path.append(JSONKey(index: step.ordinal))
        }
      }
    }
    if let last { path.append(last) }
    return path
  }

  /// Returns the path that converting the keys of an object requires; empty if the strategy uses only the key.
  func pathForConversion(of object: DecodingPlace) -> [any CodingKey] {
    if case .custom = options.keys { path(to: object) } else { [] }
  }

  /// Returns the name of a key after conversion.
  func converted(_ name: String, after path: @autoclosure () -> [any CodingKey]) -> String {
    switch options.keys {
    case .useDefaultKeys: name
    case .convertFromSnakeCase: SnakeCase.converted(name)
    case .custom(let convert): convert(path() + [JSONKey(name)]).stringValue
    @unknown default: name
    }
  }

  func mismatch<Wanted>(_ type: Wanted.Type, at place: DecodingPlace, takesNull: Bool = false) -> DecodingError {
    let word = word(place)
    if Wanted.self == String.self, let fault = read({ $0.fault(word) }) {
      return corrupted("The string is not valid Unicode: \(fault)", at: place)
    }
    if word.kind == .null, !takesNull {
      return .valueNotFound(type, context(place, "Cannot get value of type \(type) -- found null value instead"))
    }
    return .typeMismatch(type, context(place, "Expected to decode \(type) but found \(word.kind.words) instead"))
  }

  /// Creates the error for a missing container; like Foundation, it names `[String: Any]` or `[Any]`.
  func mismatch(container: String, at place: DecodingPlace) -> DecodingError {
    let isKeyed = container == "keyed"
    let type: Any.Type = isKeyed ? [String: Any].self : [Any].self
    let word = word(place)
    if word.kind == .null {
      return .valueNotFound(
        type, context(place, "Cannot get \(container) decoding container -- found null value instead"))
    }
    return .typeMismatch(type, context(place, "Expected to decode \(type) but found \(word.kind.words) instead"))
  }

  func corrupted(_ complaint: String, at place: DecodingPlace) -> DecodingError {
    .dataCorrupted(context(place, complaint))
  }

  /// Creates the error for a number that `type` cannot represent.
  func unrepresentable<Wanted>(_ type: Wanted.Type, at place: DecodingPlace) -> DecodingError {
    let word = word(place)
    let text = read { String(decoding: $0.bytes(word), as: UTF8.self) }
    return corrupted("Number \(text.prefix(64)) is not representable as \(type)", at: place)
  }

  private func context(_ place: DecodingPlace, _ complaint: String) -> DecodingError.Context {
    let isThere = place.position != JSONDocument.none
    return .init(
      codingPath: path(to: place), debugDescription: isThere ? "\(complaint), at byte \(word(place).start)." : complaint
    )
  }
}

extension JSONWord.Kind {
  /// The name of the kind in error messages.
  fileprivate var words: String {
    switch self {
    case .object: "a dictionary"
    case .array: "an array"
    case .string, .badString: "a string"
    case .number: "a number"
    case .true, .false: "a boolean"
    case .null: "null"
    }
  }
}

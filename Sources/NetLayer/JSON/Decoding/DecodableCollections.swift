/// Arrays, which are made here with the right capacity and without a container between them and their elements.
protocol DecodableList {
  /// The array at a place, as this type; `nil` where its elements are not decodable.
  static func list(at place: DecodingPlace, in session: DecodingSession) throws -> Self?
}

/// Dictionaries with strings as keys: their keys are data, and not converted as names are.
protocol DecodableDictionary {
  /// The dictionary at a place, as this type; `nil` where it has other keys or no decodable values.
  static func dictionary(at place: DecodingPlace, in session: DecodingSession) throws -> Self?
}

extension Array: DecodableList {
  static func list(at place: DecodingPlace, in session: DecodingSession) throws -> Self? {
    guard let element = Element.self as? any Decodable.Type else { return nil }
    return try session.same(session.list(of: element, at: place))
  }
}

extension Dictionary: DecodableDictionary {
  static func dictionary(at place: DecodingPlace, in session: DecodingSession) throws -> Self? {
    guard Key.self == String.self, let value = Value.self as? any Decodable.Type else { return nil }
    return try session.same(session.dictionary(of: value, at: place))
  }
}

extension DecodingSession {
  fileprivate func list<Element: Decodable>(of type: Element.Type, at place: DecodingPlace) throws -> Any {
    if type == String.self { return try elements(at: place) { try string(at: $0) } }
    if type == Int.self { return try elements(at: place) { try integer(Int.self, at: $0) } }
    if type == Double.self { return try elements(at: place) { try double(at: $0) } }
    return try elements(at: place) { try decode(type, at: $0) }
  }

  @inline(__always)
  private func elements<Element>(
    at place: DecodingPlace, _ decode: (DecodingPlace) throws -> Element
  ) throws -> [Element] {
    let (count, end) = read { ($0.count(of: Int(place.position)), $0.end(of: Int(place.position))) }
    var elements: [Element] = []
    elements.reserveCapacity(count)
    var position = Int(place.position) + 3
    var ordinal: UInt32 = 0
    while position < end {
      elements.append(
        try decode(DecodingPlace(position: UInt32(truncatingIfNeeded: position), in: place, ordinal: ordinal)))
      position = read { $0.next(position) }
      ordinal += 1
    }
    return elements
  }

  fileprivate func dictionary<Value: Decodable>(
    of type: Value.Type, at place: DecodingPlace
  ) throws -> [String: Value] {
    let session =
      options.convertsKeys
      ? DecodingSession(
        document, root: root, options: options, prefix: prefix, dictionary: place.position, outer: self) : self
    let (count, end) = read { ($0.count(of: Int(place.position)), $0.end(of: Int(place.position))) }
    var dictionary: [String: Value] = [:]
    dictionary.reserveCapacity(count)
    var key = Int(place.position) + 3
    while key < end {
      let name = read { $0.string($0.word(key)) }
      if dictionary[name] == nil {
        dictionary[name] = try session.decode(
          type, at: DecodingPlace(position: UInt32(truncatingIfNeeded: key + 1), in: place))
      }
      key = read { $0.next(key + 1) }
    }
    return dictionary
  }
}

/// An array type, which is decoded without a container for its elements.
protocol DecodableList {
  /// Decodes the array at a place; `Model` must be this type.
  static func list<Model: Decodable>(at place: DecodingPlace, in session: DecodingSession) throws -> Model
}

/// A dictionary type with string keys. The keys are data, so a key strategy does not convert them.
protocol DecodableDictionary {
  /// Decodes the dictionary at a place; `Model` must be this type.
  static func dictionary<Model: Decodable>(at place: DecodingPlace, in session: DecodingSession) throws -> Model
}

extension Array: DecodableList {
  static func list<Model: Decodable>(at place: DecodingPlace, in session: DecodingSession) throws -> Model {
    func list<Item: Decodable>(of type: Item.Type) throws -> Model {
      session.same(try session.elements(at: place) { try session.decode(type, at: $0) })
    }
    guard let element = Element.self as? any Decodable.Type else {
      return try Model(from: JSONValueDecoder(session: session, place: place))
    }
    return try list(of: element)
  }
}

extension Dictionary: DecodableDictionary {
  static func dictionary<Model: Decodable>(at place: DecodingPlace, in session: DecodingSession) throws -> Model {
    func dictionary<Item: Decodable>(of type: Item.Type) throws -> Model {
      session.same(try session.dictionary(of: type, at: place))
    }
    guard Key.self == String.self, let value = Value.self as? any Decodable.Type else {
      return try Model(from: JSONValueDecoder(session: session, place: place))
    }
    return try dictionary(of: value)
  }
}

extension DecodingSession {
  /// Returns the capacity to reserve for `count` elements, for at most 64 KB: a few megabytes of text can contain more
  /// elements than fit into memory, and need not be valid.
  private static func capacity<Element>(for count: Int, of type: Element.Type) -> Int {
    min(count, (1 << 16) / max(1, MemoryLayout<Element>.stride))
  }

  @inline(__always)
  func elements<Element>(
    at place: DecodingPlace, _ decode: (DecodingPlace) throws -> Element
  ) throws -> [Element] {
    let (count, end) = read { ($0.count(of: Int(place.position)), $0.end(of: Int(place.position))) }
    var elements: [Element] = []
    elements.reserveCapacity(Self.capacity(for: count, of: Element.self))
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
    let session = options.convertsKeys ? decoding(dictionary: place) : self
    let (count, end) = read { ($0.count(of: Int(place.position)), $0.end(of: Int(place.position))) }
    var dictionary: [String: Value] = [:]
    dictionary.reserveCapacity(Self.capacity(for: count, of: (String, Value).self))
    var key = Int(place.position) + 3
    while key < end {
      let name = try read { reader in
        if let fault = reader.fault(reader.word(key)) {
          throw corrupted("A key is not valid Unicode: \(fault)", at: place)
        }
        return reader.string(reader.word(key))
      }
      if dictionary[name] == nil {
        dictionary[name] = try session.decode(
          type, at: DecodingPlace(position: UInt32(truncatingIfNeeded: key + 1), in: place))
      }
      key = read { $0.next(key + 1) }
    }
    return dictionary
  }
}

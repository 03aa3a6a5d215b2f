/// The members of an object, found by name.
struct JSONKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let session: DecodingSession
  private let object: DecodingPlace
  private let search: Search

  /// How members are found.
  private enum Search {
    /// On from where the last one was.
    case cursor
    /// From the first one, as two may have the same name.
    case start
    /// From the first one, whose name may be in snake case.
    case snakeCase
    /// In a table made before: there are many, or their names come from a closure.
    case table([String: UInt32])
  }

  init(_ session: DecodingSession, _ object: DecodingPlace) {
    self.session = session
    self.object = object
    search = session.read { reader in
      let position = Int(object.position)
      let isLarge = reader.count(of: position) > 128
      if session.convertsKeys(of: object.position) {
        if !isLarge, case .convertFromSnakeCase = session.options.keys { return .snakeCase }
        return .table(Self.table(session, object, reader))
      }
      if !reader.word(position).flag { return .cursor }
      return isLarge ? .table(Self.table(session, object, reader)) : .start
    }
  }

  private static func table(
    _ session: DecodingSession, _ object: DecodingPlace, _ reader: JSONReader
  ) -> [String: UInt32] {
    var table: [String: UInt32] = [:]
    table.reserveCapacity(reader.count(of: Int(object.position)))
    let path = session.path(to: object)
    let converts = session.convertsKeys(of: object.position)
    forEachKey(of: object, reader) { key in
      let name = reader.string(reader.word(key))
      let known = converts ? session.converted(name, after: path) : name
      if table[known] == nil { table[known] = UInt32(truncatingIfNeeded: key + 1) }
    }
    return table
  }

  private static func forEachKey(of object: DecodingPlace, _ reader: JSONReader, _ body: (Int) -> Void) {
    let end = reader.end(of: Int(object.position))
    var key = Int(object.position) + 3
    while key < end {
      body(key)
      key = reader.next(key + 1)
    }
  }

  @inline(__always)
  private func find(_ key: Key) -> DecodingPlace? {
    let name = key.stringValue
    let position: UInt32? = session.read { reader in
      switch search {
      case .cursor: session.value(named: name, in: object, reader)
      case .start: reader.value(named: name, in: Int(object.position)).map(UInt32.init)
      case .snakeCase: reader.value(namedInSnakeCase: name, in: Int(object.position)).map(UInt32.init)
      case .table(let table): table[name]
      }
    }
    return position.map { DecodingPlace(position: $0, in: object) }
  }

  /// The place of a member that must be there.
  @inline(__always)
  func place(_ key: Key) throws -> DecodingPlace {
    guard let place = find(key) else { throw missing(key) }
    return place
  }

  /// The place of a member that may be missing or null.
  @inline(__always)
  func presentPlace(_ key: Key) -> DecodingPlace? {
    guard let place = find(key), session.word(place).kind != .null else { return nil }
    return place
  }

  private func missing(_ key: Key) -> DecodingError {
    let offset = session.word(object).start
    return .keyNotFound(
      key,
      .init(
        codingPath: codingPath,
        debugDescription: "No value associated with key \(key.stringValue.debugDescription) in the object at byte \(offset)."
      ))
  }

  var codingPath: [any CodingKey] { session.path(to: object) }

  var allKeys: [Key] {
    session.read { reader in
      var keys: [Key] = []
      var seen: Set<String> = []
      let converts = session.convertsKeys(of: object.position)
      let mayRepeat = converts || reader.word(Int(object.position)).flag
      let path = converts ? codingPath : []
      Self.forEachKey(of: object, reader) { position in
        var name = reader.string(reader.word(position))
        if converts { name = session.converted(name, after: path) }
        if mayRepeat, !seen.insert(name).inserted { return }
        if let key = Key(stringValue: name) { keys.append(key) }
      }
      return keys
    }
  }

  func contains(_ key: Key) -> Bool { find(key) != nil }

  func decodeNil(forKey key: Key) throws -> Bool { session.word(try place(key)).kind == .null }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try JSONValueDecoder(session: session, place: place(key)).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try JSONValueDecoder(session: session, place: place(key)).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { decoder(JSONKey("super"), at: Key(stringValue: "super").flatMap(find)) }

  func superDecoder(forKey key: Key) throws -> any Decoder { decoder(key, at: find(key)) }

  /// The decoder of a member; of one that is not there, a decoder of null.
  private func decoder(_ key: any CodingKey, at place: DecodingPlace?) -> any Decoder {
    if let place { return JSONValueDecoder(session: session, place: place) }
    let nothing = DecodingSession(
      session.document, root: session.root, options: session.options,
      prefix: session.path(to: object, adding: key))
    return JSONValueDecoder(session: nothing, place: DecodingPlace(position: nil))
  }
}

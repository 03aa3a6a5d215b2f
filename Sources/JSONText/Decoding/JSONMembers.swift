/// The members of an object, found by name: the parts of a keyed container that do not depend on its key type.
struct JSONMembers {
  let session: DecodingSession
  let object: DecodingPlace
  /// Whether the strategy converts the names.
  private let converts: Bool
  private let search: Search
  /// The values by name, for `Search.table`.
  private let table: [JSONName: UInt32]?

  /// A strategy for finding members.
  private enum Search {
    /// Continues from the last member found.
    case cursor
    /// Starts from the first member, because two members may have the same name.
    case start
    /// Starts from the first member, converting names from snake case.
    case snakeCase
    /// Uses a table for many members, slow comparisons, or names that a closure converts.
    case table
  }

  init(_ session: DecodingSession, _ object: DecodingPlace) {
    self.session = session
    self.object = object
    converts = session.options.convertsKeys && session.dictionary != object.position
    let converts = converts
    (search, table) = session.read { reader in
      let position = Int(object.position)
      let mayRepeat = reader.word(position).flag
      // A comparison of names with escapes is slow. An object of more than 40 members may repeat one without them.
      var hasEscapes = false
      if mayRepeat { reader.forEachKey(of: position) { if reader.word($0).flag { hasEscapes = true } } }
      let isLarge = reader.count(of: position) > (hasEscapes ? 8 : 128)
      if converts {
        if !isLarge, case .convertFromSnakeCase = session.options.keys { return (.snakeCase, nil) }
        return (.table, Self.table(session, object, reader, converts))
      }
      if !mayRepeat { return (.cursor, nil) }
      return isLarge ? (.table, Self.table(session, object, reader, converts)) : (.start, nil)
    }
  }

  private static func table(
    _ session: DecodingSession, _ object: DecodingPlace, _ reader: JSONReader, _ converts: Bool
  ) -> [JSONName: UInt32] {
    var table: [JSONName: UInt32] = [:]
    table.reserveCapacity(reader.count(of: Int(object.position)))
    let path = session.pathForConversion(of: object)
    reader.forEachKey(of: Int(object.position)) { key in
      let name = reader.string(reader.word(key))
      let known = JSONName(converts ? session.converted(name, after: path) : name)
      if table[known] == nil { table[known] = UInt32(truncatingIfNeeded: key + 1) }
    }
    return table
  }

  func find(_ name: String) -> DecodingPlace? {
    let position: UInt32? = session.read { reader in
      switch search {
      case .cursor: session.value(named: name, in: object, reader)
      case .start: reader.value(named: name, in: Int(object.position)).map { UInt32(truncatingIfNeeded: $0) }
      case .snakeCase:
        reader.value(namedInSnakeCase: name, in: Int(object.position)).map { UInt32(truncatingIfNeeded: $0) }
      case .table: table?[JSONName(name)]
      }
    }
    return position.map { DecodingPlace(position: $0, in: object) }
  }

  /// Returns the place of an optional member; `nil` if it is missing or null.
  func present(_ name: String) -> DecodingPlace? {
    guard let place = find(name), session.word(place).kind != .null else { return nil }
    return place
  }

  func missing(_ key: any CodingKey) -> DecodingError {
    let reason = "No value associated with key \(key.stringValue.debugDescription) in the object"
    return .keyNotFound(
      key, .init(codingPath: codingPath, debugDescription: "\(reason) at byte \(session.word(object).start)."))
  }

  var codingPath: [any CodingKey] { session.path(to: object) }

  /// The names in the order of the text, without duplicates.
  var names: [String] {
    session.read { reader in
      var names: [String] = []
      names.reserveCapacity(reader.count(of: Int(object.position)))
      var seen: Set<JSONName> = []
      let mayRepeat = converts || reader.word(Int(object.position)).flag
      let path = session.pathForConversion(of: object)
      reader.forEachKey(of: Int(object.position)) { position in
        var name = reader.string(reader.word(position))
        if converts { name = session.converted(name, after: path) }
        if !mayRepeat || seen.insert(JSONName(name)).inserted { names.append(name) }
      }
      return names
    }
  }

  /// Returns the decoder of a member, or a decoder of null if it is missing.
  func decoder(_ key: any CodingKey) -> any Decoder {
    if let place = find(key.stringValue) { return JSONValueDecoder(session: session, place: place) }
    let nothing = DecodingSession(
      session.document, root: session.root, options: session.options, prefix: session.path(to: object, adding: key))
    return JSONValueDecoder(session: nothing, place: DecodingPlace(position: nil))
  }
}

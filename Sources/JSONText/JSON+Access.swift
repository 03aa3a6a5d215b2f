extension JSON {
  /// Returns the member `key` of an object; the result is missing if this is not an object or has no such member.
  ///
  /// The key is compared byte by byte, and dots have no special meaning. The time is linear in the number of members.
  public subscript(key: String) -> JSON {
    at(read(.object) { reader, position in reader.value(named: key, in: position) } ?? nil)
  }

  /// Returns the element at `index`, from 0; the result is missing if this is not an array or is shorter.
  ///
  /// The time is linear in `index`.
  public subscript(index: Int) -> JSON {
    let found = read(.array) { reader, position -> Int? in
      guard index >= 0, index < reader.count(of: position) else { return nil }
      var element = position + 3
      for _ in 0..<index { element = reader.next(element) }
      return element
    }
    return at(found ?? nil)
  }

  /// Returns the value at a path such as `data.items[0].name`; the result is missing if the value at a step is missing
  /// or the path is malformed.
  public subscript(at path: String) -> JSON {
    guard let steps = JSONPath(path) else { return missing }
    return self[steps]
  }

  /// Returns the member whose name is `place`, or else the value whose path it is.
  package func value(at place: String) -> JSON {
    let member = self[place]
    // Only a text with these characters can be a path, so that a missing member costs no parsing.
    guard !member.exists, place.utf8.contains(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "[") }) else {
      return member
    }
    return self[at: place]
  }

  package subscript(path: JSONPath) -> JSON {
    path.steps.reduce(self) { value, step in
      switch step {
      case .key(let key): value[key]
      case .index(let index): value[index]
      }
    }
  }

  /// The characters of a string.
  ///
  /// The value is `nil` if this is not a string, or if the string contains an unpaired surrogate or invalid UTF-8.
  public var string: String? {
    (read(.string) { reader, position in reader.string(reader.word(position)) } ?? nil) ?? convertedString
  }

  /// The value of a number that is an integer in the range of `Int`, including `2.0` and `2e2`; otherwise `nil`.
  public var int: Int? { integer(Int.self) }

  /// Returns the value of a number that is an integer in the range of the type; otherwise `nil`.
  public func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) -> Integer? {
    (read(.number) { reader, position in reader.integer(reader.word(position), as: type) } ?? nil)
      ?? convertedNumber?.integer(type)
  }

  /// The `Double` nearest to a number.
  ///
  /// The value is `nil` if this is not a number, if it exceeds the finite range, or if a nonzero number would be
  /// rounded to 0.
  public var double: Double? {
    (read(.number) { reader, position in reader.double(reader.word(position)) } ?? nil) ?? convertedNumber?.double
  }

  /// The value of `true` or `false`; `nil` if this is not a Boolean.
  public var bool: Bool? {
    switch word?.kind {
    case .true: true
    case .false: false
    default: convertedBool
    }
  }

  /// The elements of an array, in order; `nil` if this is not an array.
  public var array: [JSON]? {
    read(.array) { reader, position in
      var elements: [JSON] = []
      elements.reserveCapacity(reader.count(of: position))
      var element = position + 3
      while element < reader.end(of: position) {
        elements.append(at(element))
        element = reader.next(element)
      }
      return elements
    }
  }

  /// The members of an object in the order of the text, with the first member of each name; `nil` if this is not an
  /// object.
  ///
  /// Invalid characters in a key are replaced by U+FFFD.
  public var members: [Member]? { namedMembers?.map { Member(key: $0.text, value: $1) } }

  /// Unavailable: `members` has the names.
  @available(*, unavailable, message: "the names are in members: json.members?.map(\\.key)")
  public var keys: [String] { [] }

  /// A member of an object.
  public struct Member: Sendable, Equatable {
    /// The name.
    public let key: String
    /// The value.
    public let value: JSON
  }

  /// The members with names that distinguish invalid keys, which may have the same text.
  var namedMembers: [(name: JSONName, value: JSON)]? {
    read(.object) { reader, position in
      var members: [(name: JSONName, value: JSON)] = []
      var seen: Set<JSONName> = []
      let mayRepeat = reader.word(position).flag
      if !mayRepeat { members.reserveCapacity(reader.count(of: position)) }
      var key = position + 3
      while key < reader.end(of: position) {
        let name = reader.name(reader.word(key))
        if !mayRepeat || seen.insert(name).inserted { members.append((name, at(key + 1))) }
        key = reader.next(key + 1)
      }
      return members
    }
  }

  /// The number of elements of an array, or of members of an object including duplicates; `nil` for other values.
  public var count: Int? {
    read(.array) { reader, position in reader.count(of: position) }
      ?? read(.object) { reader, position in reader.count(of: position) }
  }

  private var missing: JSON { at(nil) }

  private func at(_ position: Int?) -> JSON { JSON(document: document, position: position, isLenient: isLenient) }

  /// Returns the result of `body` for a value of this kind; `nil` for other values.
  @inline(__always)
  private func read<Result>(_ kind: JSONWord.Kind, _ body: (JSONReader, Int) -> Result) -> Result? {
    guard let position else { return nil }
    return document.read { $0.word(position).kind == kind ? body($0, position) : nil }
  }
}

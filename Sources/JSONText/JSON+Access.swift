extension JSON {
  /// The member `key` of an object; missing if this is no object or has none of that name.
  ///
  /// The key is taken as it is, dots included, and compared byte by byte. Linear in the number of members.
  public subscript(key: String) -> JSON {
    at(read(.object) { reader, position in reader.value(named: key, in: position) } ?? nil)
  }

  /// The element `index` of an array, from 0; missing if this is no array or is shorter. Linear in `index`.
  public subscript(index: Int) -> JSON {
    let found = read(.array) { reader, position -> Int? in
      guard index >= 0, index < reader.count(of: position) else { return nil }
      var element = position + 3
      for _ in 0..<index { element = reader.next(element) }
      return element
    }
    return at(found ?? nil)
  }

  /// The value at a path such as `data.items[0].name`; missing if any step is, and if the path is malformed.
  public subscript(path path: String) -> JSON {
    guard let steps = JSONPath(path) else { return missing }
    return self[steps]
  }

  package subscript(path: JSONPath) -> JSON {
    path.steps.reduce(self) { value, step in
      switch step {
      case .key(let key): value[key]
      case .index(let index): value[index]
      }
    }
  }

  /// The characters of a string; `nil` for anything else, and for a string with half of a surrogate pair or bytes that are not
  /// UTF-8.
  public var string: String? { read(.string) { reader, position in reader.string(reader.word(position)) } }

  /// The value of a number that is an integer and fits, `2.0` and `2e2` included; `nil` for anything else.
  public var int: Int? { integer(Int.self) }

  /// The value of a number that is an integer of this type, exactly; `nil` for anything else.
  public func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) -> Integer? {
    read(.number) { reader, position in reader.integer(reader.word(position), as: type) } ?? nil
  }

  /// The `Double` nearest to a number; `nil` for anything else, for a number beyond all finite ones, and for one so close
  /// to 0 that none but 0 is near.
  public var double: Double? { read(.number) { reader, position in reader.double(reader.word(position)) } ?? nil }

  /// The value of `true` or `false`; `nil` for anything else.
  public var bool: Bool? {
    switch word?.kind {
    case .true: true
    case .false: false
    default: nil
    }
  }

  /// The elements of an array, in order; `nil` for anything else.
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

  /// The members of an object, in the order of the text, the first of each name; `nil` for anything else. A key that stands
  /// for no characters has U+FFFD in their place.
  public var members: [(key: String, value: JSON)]? {
    namedMembers?.map { name, value in (name.text, value) }
  }

  /// The same with names that tell bad keys apart, which may look the same.
  var namedMembers: [(name: JSONName, value: JSON)]? {
    read(.object) { reader, position in
      var members: [(name: JSONName, value: JSON)] = []
      members.reserveCapacity(reader.count(of: position))
      var seen: Set<JSONName> = []
      let mayRepeat = reader.word(position).flag
      var key = position + 3
      while key < reader.end(of: position) {
        let name = reader.name(reader.word(key))
        if !mayRepeat || seen.insert(name).inserted { members.append((name, at(key + 1))) }
        key = reader.next(key + 1)
      }
      return members
    }
  }

  /// The number of elements of an array or of members of an object, duplicates counted; `nil` for anything else.
  public var count: Int? {
    read(.array) { reader, position in reader.count(of: position) }
      ?? read(.object) { reader, position in reader.count(of: position) }
  }

  private var missing: JSON { at(nil) }

  private func at(_ position: Int?) -> JSON { JSON(document: document, position: position) }

  /// What `body` makes of a value of this kind; `nil` for others.
  @inline(__always)
  private func read<Result>(_ kind: JSONWord.Kind, _ body: (JSONReader, Int) -> Result) -> Result? {
    guard let position else { return nil }
    return document.index.read { $0.word(position).kind == kind ? body($0, position) : nil }
  }
}

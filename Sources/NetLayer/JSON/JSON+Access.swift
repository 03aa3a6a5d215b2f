extension JSON {
  /// The member `key` of an object; missing if this is no object or has none of that name.
  ///
  /// The key is taken as it is, dots included, and compared byte by byte. Linear in the object's size, except in the root.
  public subscript(key: String) -> JSON {
    guard kind == .object else { return missing }
    return document.read { reader in
      var found = 0..<0
      if range == document.outline.root {
        for member in document.outline.members where reader.key(member.key, is: key) { return at(member.value) }
        if document.outline.complete { return missing }
      }
      reader.members(of: range) { name, value in
        guard reader.key(name, is: key) else { return true }
        found = value
        return false
      }
      return at(found)
    }
  }

  /// The element `index` of an array, from 0; missing if this is no array or is shorter. Linear in `index`.
  public subscript(index: Int) -> JSON {
    guard kind == .array, index >= 0 else { return missing }
    return document.read { reader in
      var found = 0..<0
      var left = index
      reader.elements(of: range) { element in
        if left == 0 { found = element }
        left -= 1
        return left >= 0
      }
      return at(found)
    }
  }

  /// The value at a path such as `data.items[0].name`; missing if any step is, and if the path is malformed.
  public subscript(path path: String) -> JSON {
    guard let steps = JSONPath(path) else { return missing }
    return self[steps]
  }

  subscript(path: JSONPath) -> JSON {
    path.steps.reduce(self) { value, step in
      switch step {
      case .key(let key): value[key]
      case .index(let index): value[index]
      }
    }
  }

  /// The characters of a string; `nil` for anything else.
  public var string: String? {
    guard kind == .string else { return nil }
    return document.read { $0.text((range.lowerBound + 1)..<(range.upperBound - 1)) }
  }

  /// The value of a number that is an integer and fits, `2.0` and `2e2` included; `nil` for anything else.
  public var int: Int? { integer(Int.self) }

  /// The value of a number that is an integer of this type, exactly; `nil` for anything else.
  public func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) -> Integer? {
    guard kind == .number else { return nil }
    return document.read { $0.integer(range, as: type) }
  }

  /// The `Double` nearest to a number; `nil` for anything else, and for a number beyond all finite ones.
  public var double: Double? {
    guard kind == .number else { return nil }
    return document.read { $0.double(range) }
  }

  /// The value of `true` or `false`; `nil` for anything else.
  public var bool: Bool? {
    guard kind == .bool else { return nil }
    return document.read { $0.byte(range.lowerBound) == UInt8(ascii: "t") }
  }

  /// The elements of an array, in order; `nil` for anything else.
  public var array: [JSON]? {
    guard kind == .array else { return nil }
    var result: [JSON] = []
    document.read { reader in
      reader.elements(of: range) { element in
        result.append(at(element))
        return true
      }
    }
    return result
  }

  /// The members of an object, in the order of the text, the first of each name; `nil` for anything else.
  public var members: [(key: String, value: JSON)]? {
    guard kind == .object else { return nil }
    var result: [(key: String, value: JSON)] = []
    var seen: Set<String> = []
    document.read { reader in
      reader.members(of: range) { key, value in
        let name = reader.text(key)
        if seen.insert(name).inserted { result.append((name, at(value))) }
        return true
      }
    }
    return result
  }

  /// The number of elements of an array or of members of an object, duplicates counted; `nil` for anything else.
  public var count: Int? {
    var count = 0
    switch kind {
    case .array:
      document.read { reader in
        reader.elements(of: range) { _ in
          count += 1
          return true
        }
      }
    case .object:
      document.read { reader in
        reader.members(of: range) { _, _ in
          count += 1
          return true
        }
      }
    default: return nil
    }
    return count
  }

  private var missing: JSON { at(0..<0) }

  private func at(_ range: Range<Int>) -> JSON { JSON(document: document, range: range) }
}

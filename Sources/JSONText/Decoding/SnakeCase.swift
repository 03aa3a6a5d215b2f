import PortableFoundation

/// The conversion of member names from snake case to camel case.
enum SnakeCase {
  /// Converts `first_name` to `firstName`, as Foundation's `convertFromSnakeCase` does.
  ///
  /// Leading and trailing underscores stay. If there is more than one word, all letters except the first of each word
  /// become lowercase.
  static func converted(_ name: String) -> String {
    guard name.utf8.contains(UInt8(ascii: "_")) else { return name }
    if let plain = name.utf8.withContiguousStorageIfAvailable({ plainConverted($0) }) ?? nil { return plain }
    guard let first = name.firstIndex(where: { $0 != "_" }), let last = name.lastIndex(where: { $0 != "_" }) else {
      return name
    }
    let words = name[first...last].split(separator: "_")
    guard let head = words.first, words.count > 1 else { return name }
    return name[..<first] + head.lowercased() + words.dropFirst().map(\.capitalized).joined()
      + name[name.index(after: last)...]
  }

  /// Converts two or more words of ASCII letters and digits without intermediate strings; returns `nil` for other
  /// names.
  private static func plainConverted(_ name: UnsafeBufferPointer<UInt8>) -> String? {
    let underscore = UInt8(ascii: "_")
    guard name.allSatisfy({ $0 == underscore || isLetter($0) || $0.isDigit }),
      let first = name.firstIndex(where: { $0 != underscore }),
      let last = name.lastIndex(where: { $0 != underscore }), name[first...last].contains(underscore)
    else { return nil }
    return String(unsafeUninitializedCapacity: name.count) { buffer in
      var count = 0
      var isFirstWord = true
      var isStart = false
      for index in 0..<name.count {
        var byte = name[index]
        if index >= first, index <= last {
          if byte == underscore {
            (isFirstWord, isStart) = (false, true)
            continue
          }
          let isLetter = isLetter(byte)
          if isLetter { byte = isStart ? byte & 0xDF : byte | 0x20 }
          isStart = !isLetter && !isFirstWord
        }
        buffer[count] = byte
        count += 1
      }
      return count
    }
  }

  /// Returns whether the bytes of a key convert to `wanted`; `nil` if that requires more than ASCII.
  @inline(__always)
  static func matches(_ key: UnsafeBufferPointer<UInt8>, _ wanted: UnsafeBufferPointer<UInt8>) -> Bool? {
    let underscore = UInt8(ascii: "_")
    var first = 0
    while first < key.count, key[first] == underscore { first += 1 }
    guard first < key.count else { return key.elementsEqual(wanted) }
    // Names usually differ early, so compare the first characters before the rest.
    guard first < wanted.count, mayBegin(key[first], wanted[first]) else { return false }
    var last = key.count
    while key[last - 1] == underscore { last -= 1 }
    var hasWords = false
    for index in first..<last {
      let byte = key[index]
      if byte == underscore {
        hasWords = true
      } else if !isLetter(byte), byte &- 48 >= 10 {
        // A name without several words stays unchanged.
        return hasWords || key[index..<last].contains(underscore) ? nil : key.elementsEqual(wanted)
      }
    }
    guard hasWords else { return key.elementsEqual(wanted) }
    var at = 0
    func takes(_ byte: UInt8) -> Bool {
      guard at < wanted.count, wanted[at] == byte else { return false }
      at += 1
      return true
    }
    for index in 0..<first where !takes(key[index]) { return false }
    // In the first word, no letter becomes uppercase. In the other words, letters at the start or after a digit become
    // uppercase.
    var isFirstWord = true
    var isStart = false
    for index in first..<last {
      let byte = key[index]
      if byte == underscore {
        (isFirstWord, isStart) = (false, true)
      } else if isLetter(byte) {
        guard takes(isStart ? byte & 0xDF : byte | 0x20) else { return false }
        isStart = false
      } else {
        guard takes(byte) else { return false }
        isStart = !isFirstWord
      }
    }
    for index in last..<key.count where !takes(key[index]) { return false }
    return at == wanted.count
  }

  /// Returns whether the lowercase form of a character that begins with `byte` may begin with `wanted`.
  @inline(__always)
  private static func mayBegin(_ byte: UInt8, _ wanted: UInt8) -> Bool {
    if byte < 0x80 { return byte | 0x20 == wanted | 0x20 }
    // Two characters beyond ASCII become ASCII letters in lowercase: K (the Kelvin sign) and İ.
    return wanted >= 0x80 || wanted == UInt8(ascii: "k") || wanted == UInt8(ascii: "i")
  }

  @inline(__always)
  private static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- UInt8(ascii: "a") < 26 }
}

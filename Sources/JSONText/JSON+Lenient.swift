extension JSON {
  /// The same value, whose getters, and those of all values inside, convert numbers, strings and Booleans into one another.
  ///
  /// ```swift
  /// let share = try response.json().lenient  // {"id": "12", "can_delete": 1}
  /// print(share["id"].int ?? 0, share["can_delete"].bool ?? false)  // 12 true
  /// ```
  /// | getter | also reads |
  /// |---|---|
  /// | `int`, `integer`, `double`, `decimal` | a string that is a number, without surrounding blanks, with or without `+` and leading zeros; `true` as 1, `false` as 0 |
  /// | `string` | the text of a number, unchanged; `true` or `false` |
  /// | `bool` | a number, of which only 0 is `false`; the strings `true`, `yes`, `y`, `t`, `1` and `false`, `no`, `n`, `f`, `0` in any case |
  ///
  /// `null`, arrays, objects and any other string remain `nil`. `decode` and `==` are not lenient.
  public var lenient: JSON { JSON(document: document, position: position, isLenient: true) }

  /// The same value, whose getters convert nothing.
  var strict: JSON { JSON(document: document, position: position) }

  /// The number that a string or Boolean stands for; `nil` if this is neither, or not lenient.
  var convertedNumber: JSON? {
    guard isLenient else { return nil }
    switch kind {
    case .bool: return bool.map { JSON($0 ? 1 : 0) }
    case .string:
      guard var text = string?.drop(while: \.isWhitespace) else { return nil }
      while text.last?.isWhitespace == true { text.removeLast() }
      let isNegative = text.first == "-"
      if isNegative || text.first == "+" { text.removeFirst() }
      guard text.first?.isASCIIDigit == true else { return nil }
      let digits = text.drop { $0 == "0" }
      let number = try? JSON(
        parsing: (isNegative ? "-" : "") + (digits.first?.isASCIIDigit == true ? "" : "0") + digits)
      return number?.kind == .number ? number : nil
    default: return nil
    }
  }

  /// The text of a number or Boolean; `nil` if this is neither, or not lenient.
  var convertedString: String? { isLenient && (kind == .number || kind == .bool) ? description : nil }

  /// Whether a number is not 0, or what a string says; `nil` if this is neither, or not lenient.
  var convertedBool: Bool? {
    guard isLenient else { return nil }
    switch (kind, string?.lowercased()) {
    case (.number, _): return double.map { $0 != 0 }
    case (.string, "true"), (.string, "yes"), (.string, "y"), (.string, "t"), (.string, "1"): return true
    case (.string, "false"), (.string, "no"), (.string, "n"), (.string, "f"), (.string, "0"): return false
    default: return nil
    }
  }
}

extension Character {
  fileprivate var isASCIIDigit: Bool { "0"..."9" ~= self && isASCII }
}

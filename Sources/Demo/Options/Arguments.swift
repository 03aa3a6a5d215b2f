/// A parser of command lines: words, options, and their values after a space or an equals sign.
struct Arguments {
  enum Item {
    case word(String)
    case option(String)
  }

  private var rest: ArraySlice<String>
  private var name = ""
  private var attached: String?
  private var onlyWords = false

  init(_ arguments: [String]) { rest = arguments[...] }

  /// Returns the next word or option; `nil` at the end. After `--`, all arguments are words.
  mutating func next() -> Item? {
    guard let argument = rest.popFirst() else { return nil }
    if !onlyWords, argument == "--" {
      onlyWords = true
      return next()
    }
    guard !onlyWords, argument.hasPrefix("-"), argument != "-" else { return .word(argument) }
    (name, attached) = (argument, nil)
    if argument.hasPrefix("--"), let equals = argument.firstIndex(of: "=") {
      name = String(argument[..<equals])
      attached = String(argument[argument.index(after: equals)...])
    } else if !argument.hasPrefix("--"), argument.count > 2 {
      name = String(argument.prefix(2))
      attached = String(argument.dropFirst(2))
    }
    return .option(name)
  }

  mutating func value() throws -> String {
    if let attached { return attached }
    guard let next = rest.popFirst() else { throw UsageError("the option \(name) needs a value") }
    return next
  }

  /// Returns the value of the last option as a whole number.
  mutating func number(in range: ClosedRange<Int>) throws -> Int {
    let text = try value()
    guard let number = Int(text), range.contains(number) else {
      throw UsageError(
        "\(name) takes a whole number from \(range.lowerBound) to \(range.upperBound), not \(text.debugDescription)")
    }
    return number
  }

  /// Returns the value of the last option as a number of seconds, at most 86,400.
  mutating func seconds() throws -> Double {
    let text = try value()
    guard let seconds = Double(text), seconds > 0, seconds <= 86_400 else {
      throw UsageError("\(name) takes seconds, greater than 0 and at most 86400, not \(text.debugDescription)")
    }
    return seconds
  }

  /// Checks that the last option has no value.
  ///
  /// - Returns: Always `true`.
  func flag() throws -> Bool {
    if let attached { throw UsageError("the option \(name) takes no value, but got \(attached.debugDescription)") }
    return true
  }
}

/// The error of an invalid command line. Its message contains the invalid value.
struct UsageError: Error {
  var message: String

  init(_ message: String) { self.message = message }
}

/// The names that a back end gives to the parts of its answers, and what it calls a success (article rows 0.16, 0.17).
///
/// `{"code": 200, "message": "ok", "data": {…}, "cursor": "abc"}` is the default. An API whose answers are the payload itself
/// has ``none``.
public struct Envelope: Sendable {
  /// The name of the member with the code.
  public var code: String
  /// Which codes mean success.
  public var success: Success
  /// The name of the member with the server's words for the user.
  public var message: String
  /// The name of the member with the payload.
  public var data: String
  /// The name of the member that says where the next page begins.
  public var cursor: String
  /// Where the server's words stand in a body that explains a status that is no success, the first that is found:
  /// paths such as `error.message`. `message` is looked for first.
  public var errorMessages: [String]
  /// Whether answers are the payload itself.
  public private(set) var isNone = false

  /// An envelope with the articles' names where nothing else is given.
  public init(
    code: String = "code", success: Success = 200, message: String = "message", data: String = "data",
    cursor: String = "cursor", errorMessages: [String] = Envelope.standardErrorMessages
  ) {
    self.code = code
    self.success = success
    self.message = message
    self.data = data
    self.cursor = cursor
    self.errorMessages = errorMessages
  }

  /// No envelope: the whole body is the payload, and the status alone says whether it is a success.
  ///
  /// `data` makes a model of the body, `list` of an array, or of what stands at its path; `bool` is `true` for a status of
  /// success, unless the body is `false`. An empty body, as of a 204, is read as `null`.
  public static let none: Envelope = {
    var envelope = Envelope()
    envelope.isNone = true
    return envelope
  }()

  /// Where most APIs say what went wrong: GitHub, Google, Stripe, OAuth (RFC 6749 §5.2), problem details (RFC 9457 §3.1).
  public static let standardErrorMessages = [
    "message", "error.message", "error_description", "error", "detail", "title",
  ]

  /// The server's words in the body of a failure; `nil` for none.
  func words(in json: JSON) -> String? {
    if let words = json[message].string, !words.isEmpty { return Self.cut(words) }
    for path in errorMessages {
      guard let steps = JSONPath(path), let words = json[steps].string, !words.isEmpty else { continue }
      return Self.cut(words)
    }
    return nil
  }

  /// As much as a user may read; a body may have megabytes.
  private static func cut(_ words: String) -> String { words.count > 1000 ? words.prefix(1000) + "…" : words }

  /// Whether `json` is an envelope that says that the backend refused. A word where numbers mean success, with neither
  /// message nor payload beside it, is something else: `{"code": "DE", "name": "Germany"}`.
  func refuses(_ json: JSON) -> Bool {
    if isNone { return false }
    let code = json[code]
    guard code.exists, !success.accepts(code) else { return false }
    return !success.expectsNumbers || code.kind != .string || code.numeric != nil
      || json[message].exists || json[data].exists
  }

  /// Which codes mean success: a number, a word, a flag, one of several numbers, or what a closure says.
  public struct Success: Sendable, ExpressibleByIntegerLiteral, ExpressibleByStringLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral
  {
    private enum Rule: Sendable {
      case numbers(Set<Int>)
      case word(String)
      case flag(Bool)
      case closure(@Sendable (JSON) -> Bool)
    }

    private let rule: Rule

    /// The one number that means success. It may also come as a string of digits, or as `200.0`.
    public init(integerLiteral value: Int) { rule = .numbers([value]) }

    /// The one word that means success, compared exactly: `"ok"`.
    public init(stringLiteral value: String) { rule = .word(value) }

    /// The flag that means success: for `{"success": true}`.
    public init(booleanLiteral value: Bool) { rule = .flag(value) }

    /// The numbers that mean success.
    public init(arrayLiteral elements: Int...) { rule = .numbers(Set(elements)) }

    /// Whatever `judge` accepts; it gets the member with the code, which is there.
    public init(_ judge: @escaping @Sendable (JSON) -> Bool) { rule = .closure(judge) }

    /// Whether `code` means success.
    func accepts(_ code: JSON) -> Bool {
      switch rule {
      case .numbers(let numbers): if let number = code.numeric { numbers.contains(number) } else { false }
      case .word(let word): code.string == word
      case .flag(let flag): code.bool == flag
      case .closure(let judge): judge(code)
      }
    }

    /// Whether numbers mean success, so that other words than digits are rare as codes.
    var expectsNumbers: Bool {
      if case .numbers = rule { true } else { false }
    }

    /// Whether `code` is of a type that this rule can read: a wrong type is a broken answer, not a refusal.
    func reads(_ code: JSON) -> Bool {
      switch (rule, code.kind) {
      case (.closure, _): true
      case (.flag, .bool): true
      // A word where a number means success is how such back ends name their errors: `"E1001"`.
      case (.numbers, .number), (.numbers, .string), (.word, .number), (.word, .string): true
      default: false
      }
    }
  }
}

extension JSON {
  /// A number, or a string of digits, as an integer (article 0, weakness 6).
  var numeric: Int? { int ?? string.flatMap { Int($0) ?? Double($0).flatMap { Int(exactly: $0) } } }
}

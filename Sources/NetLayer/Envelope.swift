/// The places of the members in a backend's responses, and the codes that mean success.
///
/// A backend has ``none`` by default: the response body is the payload itself, as in most APIs. Name ``standard``, or an
/// envelope with other names, for a server that wraps its payloads:
///
/// ```swift
/// Backend(baseURL: shopURL, envelope: Envelope(code: "status", success: 0, message: "msg", data: "result"))
/// ```
/// Each place is the name of a member, or a path such as `Response.Data` or `results[0].series` if no member has this name.
/// Every call that returns a model then decodes the payload, after its code was checked. A server that reports a failure by
/// the presence of a member has an envelope of ``init(failure:message:data:cursor:errorMessages:)``, such as ``graphQL``.
public struct Envelope: Sendable {
  /// The place of the server's message for the user.
  public var message: String
  /// The place of the payload; `nil` if the whole object is the payload.
  public var data: String?
  /// The place of the cursor of the next page; `nil` if the envelope has none.
  public var cursor: String?
  /// The paths to the server's message in the body of an error response, such as `error.message`. `message` takes
  /// precedence; of these, the first that exists is used.
  public var errorMessages: [String]
  /// The form, which tells failures from successes.
  let form: Form

  enum Form: Sendable {
    /// Only the status.
    case none
    /// The code at a place.
    case code(String, success: Success)
    /// The member at a place, which reports a failure.
    case failure(String)
  }

  /// Creates an envelope; the default names are those of ``standard``.
  public init(
    code: String = "code", success: Success = 200, message: String = "message", data: String? = "data",
    cursor: String? = "cursor", errorMessages: [String]? = nil
  ) {
    self.init(.code(code, success: success), message: message, data: data, cursor: cursor, errorMessages: errorMessages)
  }

  /// Creates an envelope without a code: a response fails if it has the member `failure`, unless that is `null`, `false`,
  /// 0 or an empty array.
  ///
  /// ```swift
  /// Backend(baseURL: url, envelope: Envelope(failure: "errors", data: "data"))
  /// ```
  /// The failure is an error of kind `rejected`. Its message is found by `message` and `errorMessages`, or is the member
  /// itself if that is a string. Its code is the member itself if that is a number, or else the number in the member `code`
  /// of `failure`, or of its first element. Its response contains partial data: `error.response?.decode(…, at:)`.
  public init(
    failure: String, message: String = "message", data: String?, cursor: String? = "cursor",
    errorMessages: [String]? = nil
  ) {
    self.init(.failure(failure), message: message, data: data, cursor: cursor, errorMessages: errorMessages)
  }

  private init(_ form: Form, message: String, data: String?, cursor: String?, errorMessages: [String]?) {
    self.form = form
    self.message = message
    self.data = data
    self.cursor = cursor
    self.errorMessages = errorMessages ?? Self.standardErrorMessages
  }

  /// The envelope of GraphQL: `{"data": {…}}`, or `{"errors": [{"message": "…"}], "data": null}` (specification §7.1).
  public static let graphQL = Envelope(failure: "errors", data: "data")

  /// The envelope of JSON-RPC 2.0: `{"result": …}`, or `{"error": {"code": -32601, "message": "…"}}` (specification §5).
  public static let jsonRPC = Envelope(failure: "error", data: "result")

  /// The envelope `{"code": 200, "message": "ok", "data": {…}, "cursor": "abc"}`.
  public static let standard = Envelope()

  /// No envelope: the whole body is the payload, and only the status determines success.
  ///
  /// `data` decodes a model from the body, and `list` decodes the array in the body or at the given path. `bool` is
  /// `true` for a success status, unless the body is `false`. An empty body, as in a 204 response, is read as `null`.
  public static let none = Envelope(.none, message: "message", data: nil, cursor: nil, errorMessages: nil)

  /// Whether only the status determines success.
  var isNone: Bool { if case .none = form { true } else { false } }

  /// The usual paths of error messages: GitHub, Google, Stripe, Elasticsearch, OAuth (RFC 6749 §5.2), problem details
  /// (RFC 9457 §3.1), FastAPI, JSON:API, GraphQL, container registries, AWS and ASP.NET.
  private static let standardErrorMessages = [
    "message", "error.message", "error.reason", "error_description", "error", "detail", "detail.message",
    "detail[0].msg",
    "errors[0].message", "errors[0].detail", "title", "Message",
  ]

  /// Returns the server's message in the body of an error response, or `nil`.
  func words(in json: JSON) -> String? {
    if let words = json.value(at: message).messageWords, !words.isEmpty { return words.cutWords }
    for path in errorMessages {
      guard let steps = JSONPath(path) else { continue }
      // A list counts only as messages: a field may be called `title`.
      let found = json[steps]
      guard let words = path.hasSuffix("message") ? found.messageWords : found.string, !words.isEmpty else { continue }
      // ASP.NET explains its title in the fields.
      if path == "title", let words = json["errors"].exists ? json.fieldWords : nil { return words.cutWords }
      // CouchDB and RabbitMQ explain the name of an error in another member.
      if path == "error", !words.contains(" "), let reason = json["reason"].string, !reason.isEmpty {
        return reason.cutWords
      }
      return words.cutWords
    }
    if let words = reportedFailure(in: json)?.string, !words.isEmpty { return words.cutWords }
    return json.fieldWords.map(\.cutWords)
  }

  /// Returns whether `json` is an envelope that reports a failure. A text in place of a numeric code, without a message
  /// or a payload, belongs to a plain response: `{"code": "DE", "name": "Germany"}`.
  func refuses(_ json: JSON) -> Bool {
    switch form {
    case .none: return false
    case .failure: return reportedFailure(in: json) != nil
    case .code(let place, let success):
      let code = json.value(at: place)
      guard code.exists, !success.accepts(code) else { return false }
      return !success.expectsNumbers || code.kind != .string || code.numeric != nil
        || json.value(at: message).exists || payload(of: json).exists
    }
  }

  /// Returns the payload, which may not exist.
  func payload(of json: JSON) -> JSON { if let data { json.value(at: data) } else { json } }

  /// Returns the member that reports a failure, or `nil`.
  func reportedFailure(in json: JSON) -> JSON? {
    guard case .failure(let place) = form else { return nil }
    let member = json.value(at: place)
    guard member.exists, !member.isNull, member.array?.isEmpty != true else { return nil }
    if member.bool == false { return nil }
    if member.numeric == 0 { return nil }
    return member
  }

  /// Returns the numeric code in an envelope; `nil` for a success that has none.
  func numericCode(in json: JSON) -> Int? {
    if case .code(let place, _) = form { return json.value(at: place).numeric }
    return reportedFailure(in: json).flatMap { $0.numeric ?? $0["code"].numeric ?? $0[0]["code"].numeric }
  }

  /// A rule for success codes: a number, a word, a flag, a set of numbers or a closure.
  public struct Success: Sendable, ExpressibleByIntegerLiteral, ExpressibleByStringLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral
  {
    private enum Rule: Sendable {
      case numbers(Set<Int>)
      case word(String)
      case boolean(Bool)
      case closure(@Sendable (JSON) -> Bool)
    }

    private let rule: Rule

    /// Accepts one number, also as a string of digits or as `200.0`.
    public init(integerLiteral value: Int) { rule = .numbers([value]) }

    /// Accepts one word, compared exactly: `"ok"`.
    public init(stringLiteral value: String) { rule = .word(value) }

    /// Accepts one flag, as in `{"success": true}`.
    public init(booleanLiteral value: Bool) { rule = .boolean(value) }

    /// Accepts any of these numbers.
    public init(arrayLiteral elements: Int...) { rule = .numbers(Set(elements)) }

    /// Accepts the codes for which `isSuccess` returns `true`. `isSuccess` receives the code member and is not called without
    /// one.
    public init(_ isSuccess: @escaping @Sendable (JSON) -> Bool) { rule = .closure(isSuccess) }

    /// Returns whether `code` means success.
    func accepts(_ code: JSON) -> Bool {
      switch rule {
      case .numbers(let numbers): if let number = code.numeric { numbers.contains(number) } else { false }
      case .word(let word): code.string == word
      case .boolean(let expected): code.bool == expected
      case .closure(let isSuccess): isSuccess(code)
      }
    }

    /// Whether numbers mean success, so that non-numeric codes are rare.
    var expectsNumbers: Bool {
      if case .numbers = rule { true } else { false }
    }

    /// Returns whether this rule can read the type of `code`. A wrong type indicates a malformed response, not a
    /// failure.
    func reads(_ code: JSON) -> Bool {
      switch (rule, code.kind) {
      case (.closure, _): true
      case (.boolean, .bool): true
      // Backends with numeric success codes may use words for error codes: `"E1001"`.
      case (.numbers, .number), (.numbers, .string), (.word, .number), (.word, .string): true
      default: false
      }
    }
  }
}

extension JSON {
  /// A number, or a string of digits, as an integer.
  var numeric: Int? { int ?? string.flatMap { Int($0) ?? Double($0).flatMap { Int(exactly: $0) } } }
}

/// The intermediate tree of parameters, which forms and JSON share.
enum ParameterValue: Sendable, Equatable {
  case null
  case bool(Bool)
  /// A number as text, which is the same on every platform.
  case number(String)
  case string(String)
  case array([ParameterValue])
  /// The members, sorted by name. Two names may become equal when they are encoded.
  case object([Member])

  struct Member: Sendable, Equatable {
    var name: String
    var value: ParameterValue
  }
}

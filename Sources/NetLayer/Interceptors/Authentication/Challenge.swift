import PortableFoundation

/// A challenge of a `WWW-Authenticate` field: a scheme with its parameters (RFC 9110 §11.3).
struct Challenge: Sendable, Equatable {
  /// The scheme, in lowercase.
  let scheme: String
  /// The values of the parameters by name, in lowercase, without quotes and escapes. The first of a name is used.
  fileprivate(set) var parameters: [String: String] = [:]

  /// Returns the challenges in the fields `name` of `headers`, in order. A field may contain several.
  static func all(in headers: HTTPHeaders, field name: String = "WWW-Authenticate") -> [Challenge] {
    var found: [Challenge] = []
    for value in headers.values(of: name) {
      for part in value[...].unquotedParts(separator: ",") where !part.isEmpty {
        var rest = part
        if let scheme = Self.scheme(of: part) {
          found.append(Challenge(scheme: scheme.lowercased()))
          rest = part.dropFirst(scheme.count).withoutBlanks
        }
        if let (name, value) = parameter(rest), let last = found.indices.last,
          found[last].parameters[name] == nil
        {
          found[last].parameters[name] = value
        }
      }
    }
    return found
  }

  /// Returns the parameters of a field that has no scheme, such as `Authentication-Info`.
  static func parameters(of value: String) -> [String: String] {
    Dictionary(value[...].unquotedParts(separator: ",").compactMap { parameter($0) }) { first, _ in first }
  }

  private static func scheme(of part: Substring) -> Substring? {
    let word = part.prefix { $0 != " " && $0 != "\t" && $0 != "=" }
    let rest = part.dropFirst(word.count)
    guard !word.isEmpty, rest.first != "=" else { return nil }
    // A parameter may have blanks around its equals sign (RFC 9110 §5.6.3).
    return rest.trimmingBlanks.first == "=" ? nil : word
  }

  private static func parameter(_ part: Substring) -> (name: String, value: String)? {
    guard part.contains("=") else { return nil }
    let name = part.prefix { $0 != "=" }.trimmingBlanks.lowercased()
    guard !name.isEmpty, !name.contains(" ") else { return nil }
    return (name, MediaType("_;" + part).parameter(name) ?? "")
  }
}

import PortableFoundation

extension Response {
  /// The URL of the `Location` field, such as the URL of what a POST created (RFC 9110 §10.2.2); `nil` without a valid one.
  ///
  /// A relative URL is resolved against the URL of the response. A user and a password in it are dropped (RFC 9110 §4.2.4).
  public var location: URL? { headers["Location"].flatMap { URL(reference: $0, from: url) } }

  /// The URLs of the `Link` fields by relation, in lowercase, such as `next` (RFC 8288 §3).
  ///
  /// ```swift
  /// let next = response.links["next"]
  /// ```
  /// Relative URLs are resolved against the URL of the response. If a relation has several links, the first is used.
  /// Links of another resource (`anchor`) are ignored. A user and a password in a link are dropped (RFC 9110 §4.2.4).
  public var links: [String: URL] {
    var links: [String: URL] = [:]
    for field in headers where field.name.lowercased() == "link" {
      var parser = LinkParser(field.value)
      while let link = parser.next() {
        guard let url = URL(reference: link.target, from: url) else { continue }
        for relation in link.relations where links[relation] == nil { links[relation] = url }
      }
    }
    return links
  }
}

/// A parser for the value of a `Link` field: `<a>; rel="next", <b>; rel=last`.
private struct LinkParser {
  private var rest: Substring.UnicodeScalarView

  init(_ value: String) { rest = Substring(value).unicodeScalars }

  /// Returns the next link of this resource that has a relation; `nil` at the end, or if the field is malformed.
  mutating func next() -> (target: String, relations: [String])? {
    while let link = read() {
      if let relations = link.relations { return (link.target, relations) }
    }
    return nil
  }

  private mutating func read() -> (target: String, relations: [String]?)? {
    skip { $0 == "," || Self.isBlank($0) }
    guard rest.popFirst() == "<", let end = rest.firstIndex(of: ">") else { return nil }
    let target = String(rest[..<end])
    rest = rest[rest.index(after: end)...]
    var relations: [String]?
    var isElsewhere = false
    while true {
      skip(Self.isBlank)
      guard rest.first == ";" else { break }
      rest.removeFirst()
      skip(Self.isBlank)
      let name = take { $0 != "=" && $0 != ";" && $0 != "," && !Self.isBlank($0) }.lowercased()
      let value = value()
      // The first `rel` parameter is used (RFC 8288 §3.3).
      if name == "rel", relations == nil {
        relations = value.lowercased().unicodeScalars.split(separator: " ").map { String($0) }
      }
      if name == "anchor" { isElsewhere = true }
    }
    return (target, isElsewhere ? nil : relations)
  }

  /// Reads the value of a parameter after its name: a token or a quoted string.
  private mutating func value() -> String {
    skip(Self.isBlank)
    guard rest.first == "=" else { return "" }
    rest.removeFirst()
    skip(Self.isBlank)
    guard rest.first == "\"" else { return take { $0 != ";" && $0 != "," && !Self.isBlank($0) } }
    rest.removeFirst()
    var text = String.UnicodeScalarView()
    while let next = rest.popFirst(), next != "\"" {
      if next == "\\", let escaped = rest.popFirst() { text.append(escaped) } else { text.append(next) }
    }
    return String(text)
  }

  private mutating func skip(_ isSkipped: (Unicode.Scalar) -> Bool) { rest = rest.drop(while: isSkipped) }

  private mutating func take(_ isTaken: (Unicode.Scalar) -> Bool) -> String {
    let taken = rest.prefix(while: isTaken)
    rest = rest[taken.endIndex...]
    return String(taken)
  }

  private static func isBlank(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" }
}

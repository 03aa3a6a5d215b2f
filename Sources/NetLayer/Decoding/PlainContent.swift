import PortableFoundation

/// Returns the content itself if `type` is text or bytes, which no function with `as:` decodes from JSON; `nil` for other
/// types.
func plainContent<Model>(
  _ type: Model.Type, text: () throws -> String?, bytes: () throws -> Data?
) rethrows -> Model? {
  if type == String.self || type == String?.self { return try text() as? Model }
  if type == Data.self || type == Data?.self { return try bytes() as? Model }
  return nil
}

extension Response {
  /// Returns the body as text or bytes, as `ResponseReadable` does; `nil` for other types.
  func content<Model>(as type: Model.Type) throws -> Model? {
    let isNothing = isEmpty && Model.self is any ExpressibleByNilLiteral.Type
    return try plainContent(type, text: { isNothing ? nil : try text() }, bytes: { isNothing ? nil : try .read(self) })
  }
}

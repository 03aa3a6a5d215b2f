import PortableFoundation

extension Request {
  /// The `Cookie` field from the jar; `nil` without a jar, or if the caller has set the field.
  var jarCookies: String? {
    headers["Cookie"] == nil ? chosenOptions?.value.cookies?.header(for: url) : nil
  }
}

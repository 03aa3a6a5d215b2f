import PortableFoundation

// Several responses of one URL, selected by header fields of the request (Vary, RFC 9111 §4.1). The URL's key refers to
// a list of these fields, an entry of status 0. The keys of the responses consist of a random prefix and the fields'
// values. Without the list, no lookup finds them, so removing the list removes all variants.

extension CacheEntry {
  /// Creates the list for variants that the fields `names` of a request select; `prefix` starts their keys.
  static func variants(names: [String], prefix: String, tags: [String], at now: Double) -> CacheEntry {
    CacheEntry(
      status: 0, headers: HTTPHeaders(names.map { HTTPHeaders.Field(name: "Vary", value: $0) }),
      body: Data(prefix.utf8), requestedAt: now, receivedAt: now, tags: tags)
  }

  /// Whether this entry is a list of fields, not a response.
  var listsVariants: Bool { status == 0 }
  private var names: [String] { headers.values(of: "Vary") }

  /// Returns the key of the variant for a request with the fields `headers`, ignoring whitespace.
  func variantKey(for headers: HTTPHeaders) -> String {
    names.reduce(into: CacheKey(String(decoding: body, as: UTF8.self))) { key, name in
      key.append(headers[name].map { $0.split(separator: " ").joined(separator: " ") })
    }.text
  }
}

extension ResponseCache {
  /// Returns the sorted names of the fields that select variants, without the fields that the transport negotiates
  /// itself: it removes content codings from bodies.
  static func variantFields(_ headers: HTTPHeaders) -> [String] {
    guard let vary = headers["Vary"] else { return [] }
    return Set(CacheControl.list(vary).map { $0.lowercased() }).subtracting(["accept-encoding"]).sorted()
  }

  /// Returns the response under `key`, or its variant for `headers`, in memory or on disk.
  func search(_ disk: DiskStore, _ key: String, for headers: HTTPHeaders, since changes: UInt64) -> Match? {
    guard let first = read(disk, key, promoting: changes) else { return nil }
    guard first.listsVariants else { return (first, key) }
    let variant = first.variantKey(for: headers)
    return read(disk, variant, promoting: changes).map { ($0, variant) }
  }

  /// Stores `entry` as a variant; `known` is the entry under `key`.
  func storeVariant(
    _ entry: CacheEntry, _ key: String, _ names: [String], _ headers: HTTPHeaders, _ mark: UInt64,
    below known: CacheEntry?
  ) {
    var list = known?.listsVariants == true ? known : nil
    // The new list has another prefix, so the previous variants are never found again.
    if list.map({ Self.variantFields($0.headers) }) != names {
      let fresh = CacheEntry.variants(names: names, prefix: CacheKey.variantPrefix(of: key), tags: entry.tags, at: now)
      put(fresh, key, of: key, since: mark)
      list = fresh
    }
    if let list { put(entry, list.variantKey(for: headers), of: key, since: mark) }
  }
}

extension ResponseCache.Memory {
  /// Returns the response under `key` to a request with the fields `headers`, and its own key.
  mutating func match(_ key: String, for headers: HTTPHeaders) -> ResponseCache.Match? {
    guard let first = entries.value(for: key) else { return nil }
    guard first.listsVariants else { return (first, key) }
    let variant = first.variantKey(for: headers)
    return entries.value(for: variant).map { ($0, variant) }
  }
}

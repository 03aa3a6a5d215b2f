import PortableFoundation

// Several responses of one URL, chosen by header fields of the request (Vary, RFC 9111 §4.1). Under the URL's key stands a list
// of these fields, an entry of status 0; the responses stand under keys made of a random prefix and the fields' values.
// Without the list nobody finds them: removing it removes all variants.

extension CacheEntry {
  /// The list for variants that the fields `names` of a request choose; `prefix` begins their keys.
  static func variants(names: [String], prefix: String, tags: [String], at now: Double) -> CacheEntry {
    CacheEntry(
      status: 0, headers: HTTPHeaders(names.map { HTTPHeaders.Field(name: "Vary", value: $0) }),
      body: Data(prefix.utf8), requestedAt: now, receivedAt: now, tags: tags)
  }

  /// Whether this is a list of fields, not a response.
  var listsVariants: Bool { status == 0 }
  /// The fields that choose.
  private var names: [String] { headers.values(of: "Vary") }

  /// The key of the variant for a request with the fields `headers`. White space does not count.
  func variantKey(for headers: HTTPHeaders) -> String {
    names.reduce(into: CacheKey(String(decoding: body, as: UTF8.self))) { key, name in
      key.append(headers[name].map { $0.split(separator: " ").joined(separator: " ") })
    }.text
  }
}

extension Cache {
  /// The names of the fields that choose between variants, sorted. What the transport negotiates by itself is not among
  /// them: bodies come without their content coding.
  static func variantFields(_ headers: HTTPHeaders) -> [String] {
    guard let vary = headers["Vary"] else { return [] }
    return Set(CacheControl.list(vary).map { $0.lowercased() }).subtracting(["accept-encoding"]).sorted()
  }

  /// The response under `key`, or its variant for `headers`, in memory or on disk.
  func search(_ disk: DiskStore, _ key: String, for headers: HTTPHeaders, since changes: UInt64) -> Match? {
    guard let first = read(disk, key, promoting: changes) else { return nil }
    guard first.listsVariants else { return (first, key) }
    let variant = first.variantKey(for: headers)
    return read(disk, variant, promoting: changes).map { ($0, variant) }
  }

  /// Stores `entry` as a variant; `known` is what is stored under `key`.
  func storeVariant(
    _ entry: CacheEntry, _ key: String, _ names: [String], _ headers: HTTPHeaders, _ mark: UInt64,
    below known: CacheEntry?
  ) {
    var list = known?.listsVariants == true ? known : nil
    // The former variants are hidden for good: the new list has another prefix.
    if list.map({ Self.variantFields($0.headers) }) != names {
      let fresh = CacheEntry.variants(names: names, prefix: UUID().uuidString, tags: entry.tags, at: now)
      put(fresh, key, of: key, since: mark)
      list = fresh
    }
    if let list { put(entry, list.variantKey(for: headers), of: key, since: mark) }
  }
}

extension Cache.Memory {
  /// The response under `key` to a request with the fields `headers`, and its own key.
  mutating func match(_ key: String, for headers: HTTPHeaders) -> Cache.Match? {
    guard let first = entries.value(for: key) else { return nil }
    guard first.listsVariants else { return (first, key) }
    let variant = first.variantKey(for: headers)
    return entries.value(for: variant).map { ($0, variant) }
  }
}

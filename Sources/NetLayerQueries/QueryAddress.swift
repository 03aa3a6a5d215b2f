import PortableFoundation

/// The request that a query sends, and its place among the watched requests.
struct QueryAddress: Sendable {
  /// Method, URL, header fields, body and user. Two requests with the same key share a query.
  let key: String
  let names: Set<String>
  /// The request before interceptors and the signer change it.
  let request: Request
  /// The sources whose user the query follows.
  let sources: [any AccountSource]
}

extension Network {
  /// Returns the place of a call among the watched requests.
  ///
  /// - Throws: `NetworkError` if the request can't be built; the error is reported.
  func address(_ content: CallContent, accept: String?, _ paging: PagedKey? = nil) throws -> QueryAddress {
    do {
      var request = try builder.request(for: content, accept: accept)
      captureContext(into: &request)
      // Users who sign in and out change within a query; all others have their own.
      let accounts = accounts(of: request)
      guard
        var key = CacheKey(
          request, account: accounts.constant, transport: transportIdentity, own: request.caching.key, hasBody: true)
      else {
        throw NetworkError(
          kind: .invalidRequest, reason: "\(request) can't be watched, because its body is not in memory",
          request: request)
      }
      let sources = accounts.changing
      for source in sources { key.append("\(UInt(bitPattern: ObjectIdentifier(source)))") }
      for field in request.headers.sorted(by: { $0.name.lowercased() < $1.name.lowercased() }) {
        key.append(field.name.lowercased())
        key.append(field.value)
      }
      key.append(paging?.text)
      var names = Set(content.caching.tags.map(Invalidation.name))
      names.insert(Invalidation.name(request))
      return QueryAddress(key: key.text, names: names, request: request, sources: sources)
    } catch {
      throw reading.report(reading.translated(NetworkError.wrapping(error)))
    }
  }
}

extension Endpoint {
  /// Returns the call with a header field, which replaces the fields of the same name; `nil` removes them.
  public func header(_ name: String, _ value: String?) -> Call<Output> { changed { $0.headers[name] = value } }

  /// Returns the call with parameters added to its query. They replace query parameters of the same name; the body is
  /// unchanged.
  public func query(_ parameters: Parameters) -> Call<Output> { changed { $0.add(query: parameters) } }

  /// Returns the call with a time limit for an attempt, from the start to the last byte (`Timeouts.total`). The limit
  /// does not apply to streamed bodies and downloads. A limit of zero or less, such as the rest of a deadline that has
  /// passed, is a limit of 1 ms.
  public func timeout(_ limit: Duration) -> Call<Output> { changed { $0.timeout = limit } }

  /// Returns the call with another cache policy.
  public func caching(_ policy: CachePolicy) -> Call<Output> { changed { $0.caching.policy = policy } }

  /// Returns the call with additional tags of the data that it returns.
  public func tags(_ tags: CacheTag...) -> Call<Output> { changed { $0.caching.tags.formUnion(tags) } }

  /// Returns the call with additional tags of the data that it changes.
  public func invalidates(_ tags: CacheTag...) -> Call<Output> { changed { $0.caching.invalidates.formUnion(tags) } }

  /// Returns the call with a priority in the queue for a connection.
  public func priority(_ priority: Request.Priority) -> Call<Output> { changed { $0.priority = priority } }

  /// Returns the call with another version of HTTP.
  public func httpVersion(_ version: Request.HTTPVersion) -> Call<Output> { changed { $0.httpVersion = version } }

  /// Returns the call with a value for interceptors, which read it as `request.context[key]`.
  public func context<Key: ContextKey>(_ key: Key.Type, _ value: Key.Value) -> Call<Output> {
    changed { $0.context[key] = value }
  }

  private func changed(_ change: (inout CallContent) -> Void) -> Call<Output> {
    var call = (self as? Call<Output>) ?? Call(self)
    change(&call.content)
    return call
  }
}

import PortableFoundation

extension Endpoint {
  /// Returns the call with a header field, which replaces the fields of the same name; `nil` removes them.
  public func header(_ name: String, _ value: String?) -> Call<Output> { changed { $0.headers[name] = value } }

  /// Returns the call with parameters added to its query. They replace query parameters of the same name; the body is
  /// unchanged.
  public func query(_ parameters: Parameters) -> Call<Output> { changed { $0.add(query: parameters) } }

  /// Returns the call with pairs added to its query, in order and with repeated names.
  ///
  /// They precede other parameters. An item without a value is a name without `=`. A `+` is escaped, unlike by `URLComponents`.
  public func query(_ items: [URLQueryItem]) -> Call<Output> { changed { $0.add(items) } }

  /// Returns the call with a time limit, which includes all attempts and the pauses between them (`Timeouts.call`).
  ///
  /// An attempt may take all of this time, even if the backend's `Timeouts.attempt` is shorter; ``timeouts(idle:attempt:)`` limits
  /// attempts. The backend's `Timeouts.idle`, 60 s by default, still ends an attempt at a silent server: see `longPoll(_:)`.
  /// For a streamed body or a download, it is the time until the head of the response. A limit of zero or less is 1 ms.
  public func timeout(_ limit: Duration) -> Call<Output> { changed { $0.timeout = limit } }

  /// Returns the call with both time limits of each attempt; `nil` for no limit. ``timeout(_:)`` limits the call.
  ///
  /// `idle` is the maximum time without data, in a stream until its head. It also limits how long the server may compute before it
  /// responds. `attempt` is the time from the start of an attempt to the last byte. A limit of zero or less is 1 ms.
  public func timeouts(idle: Duration?, attempt: Duration?) -> Call<Output> {
    changed { $0.limits = CallContent.Limits(idle: idle, attempt: attempt) }
  }

  /// Returns the call with one limit for both the time without data and the whole attempt, for a server that responds
  /// when it has news, after up to that time.
  ///
  /// Choose a limit that is a few seconds longer than the server's. After it, the call fails with an error of kind
  /// `timeout`.
  public func longPoll(_ limit: Duration) -> Call<Output> { timeouts(idle: limit, attempt: limit) }

  /// Returns the call with another cache policy.
  public func caching(_ policy: CachePolicy) -> Call<Output> { changed { $0.caching.policy = policy } }

  /// Returns the call with additional tags of the data that it returns.
  public func tags(_ tags: Set<CacheTag>) -> Call<Output> { changed { $0.caching.tags.formUnion(tags) } }

  /// Returns the call with additional tags of the data that it changes.
  public func invalidates(_ tags: Set<CacheTag>) -> Call<Output> { changed { $0.caching.invalidates.formUnion(tags) } }

  /// Returns the call with a priority in the queue for a connection.
  public func priority(_ priority: Request.Priority) -> Call<Output> { changed { $0.priority = priority } }

  /// Returns the call with another version of HTTP.
  public func httpVersion(_ version: Request.HTTPVersion) -> Call<Output> { changed { $0.httpVersion = version } }

  /// Returns the call with an `Idempotency-Key`, by which a server detects that it receives one request twice. A
  /// ``RetryInterceptor`` then also retries a POST.
  ///
  /// The server must support the field (draft-ietf-httpapi-idempotency-key-header). The returned call is one operation,
  /// however often it is sent: create another call for the next operation. The key is sent as a quoted string.
  public func idempotent(_ key: UUID = UUID()) -> Call<Output> {
    header("Idempotency-Key", "\"\(key.uuidString.lowercased())\"")
  }

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

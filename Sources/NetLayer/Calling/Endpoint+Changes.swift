extension Endpoint {
  /// Returns the call with a header field, which replaces the fields of the same name; `nil` removes them.
  public func header(_ name: String, _ value: String?) -> Call { changed { $0.headers[name] = value } }

  /// Returns the call with parameters added to its query. They replace query parameters of the same name; the body is
  /// unchanged.
  public func query(_ parameters: Parameters) -> Call { changed { $0.add(query: parameters) } }

  /// Returns the call with a time limit for an attempt, from the start to the last byte (`Timeouts.total`). The limit
  /// does not apply to streamed bodies and downloads.
  public func timeout(_ limit: Duration) -> Call { changed { $0.timeout = limit } }

  /// Returns the call with another cache policy.
  public func caching(_ policy: CachePolicy) -> Call { changed { $0.caching.policy = policy } }

  /// Returns the call with a priority in the queue for a connection.
  public func priority(_ priority: Request.Priority) -> Call { changed { $0.priority = priority } }

  /// Returns the call with another version of HTTP.
  public func httpVersion(_ version: Request.HTTPVersion) -> Call { changed { $0.httpVersion = version } }

  /// Returns the call with a value for interceptors, which read it as `request.context[key]`.
  public func context<Key: ContextKey>(_ key: Key.Type, _ value: Key.Value) -> Call {
    changed { $0.context[key] = value }
  }

  private func changed(_ change: (inout Call) -> Void) -> Call {
    var call = Call(self)
    change(&call)
    return call
  }
}

// The same methods, which keep the type of the response.
extension TypedEndpoint {
  /// Returns the call with a header field, which replaces the fields of the same name; `nil` removes them.
  public func header(_ name: String, _ value: String?) -> TypedCall<Response> { typed(Call(self).header(name, value)) }

  /// Returns the call with parameters added to its query. They replace query parameters of the same name; the body is
  /// unchanged.
  public func query(_ parameters: Parameters) -> TypedCall<Response> { typed(Call(self).query(parameters)) }

  /// Returns the call with a time limit for an attempt, from the start to the last byte (`Timeouts.total`).
  public func timeout(_ limit: Duration) -> TypedCall<Response> { typed(Call(self).timeout(limit)) }

  /// Returns the call with another cache policy.
  public func caching(_ policy: CachePolicy) -> TypedCall<Response> { typed(Call(self).caching(policy)) }

  /// Returns the call with a priority in the queue for a connection.
  public func priority(_ priority: Request.Priority) -> TypedCall<Response> { typed(Call(self).priority(priority)) }

  /// Returns the call with another version of HTTP.
  public func httpVersion(_ version: Request.HTTPVersion) -> TypedCall<Response> {
    typed(Call(self).httpVersion(version))
  }

  /// Returns the call with a value for interceptors, which read it as `request.context[key]`.
  public func context<Key: ContextKey>(_ key: Key.Type, _ value: Key.Value) -> TypedCall<Response> {
    typed(Call(self).context(key, value))
  }

  private func typed(_ call: Call) -> TypedCall<Response> { TypedCall(call: call, accept: accept) { try read($0) } }
}

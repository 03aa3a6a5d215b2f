extension Endpoint {
  /// The call with a header field, in place of those of the same name; `nil` removes them.
  public func header(_ name: String, _ value: String?) -> Call { changed { $0.headers[name] = value } }

  /// The call with parameters in its query, beside its body, and in place of those of their names that its query has.
  public func query(_ parameters: Parameters) -> Call { changed { $0.add(query: parameters) } }

  /// The call with a limit of its own for an attempt, from the start to the last byte (`Timeouts.total`); a streamed body and
  /// a download have none.
  public func timeout(_ limit: Duration) -> Call { changed { $0.timeout = limit } }

  /// The call with another cache policy.
  public func caching(_ policy: CachePolicy) -> Call { changed { $0.caching.policy = policy } }

  /// The call, going before or behind others where requests wait for a connection.
  public func priority(_ priority: Request.Priority) -> Call { changed { $0.priority = priority } }

  /// The call with a value for interceptors: `request.context[key]`.
  public func context<Key: ContextKey>(_ key: Key.Type, _ value: Key.Value) -> Call {
    changed { $0.context[key] = value }
  }

  private func changed(_ change: (inout Call) -> Void) -> Call {
    var call = Call(self)
    change(&call)
    return call
  }
}

// The same, without losing what the answer is.
extension TypedEndpoint {
  /// The call with a header field, in place of those of the same name; `nil` removes them.
  public func header(_ name: String, _ value: String?) -> TypedCall<Response> { typed(Call(self).header(name, value)) }

  /// The call with parameters in its query, beside its body, and in place of those of their names that its query has.
  public func query(_ parameters: Parameters) -> TypedCall<Response> { typed(Call(self).query(parameters)) }

  /// The call with a limit of its own for an attempt, from the start to the last byte (`Timeouts.total`).
  public func timeout(_ limit: Duration) -> TypedCall<Response> { typed(Call(self).timeout(limit)) }

  /// The call with another cache policy.
  public func caching(_ policy: CachePolicy) -> TypedCall<Response> { typed(Call(self).caching(policy)) }

  /// The call, going before or behind others where requests wait for a connection.
  public func priority(_ priority: Request.Priority) -> TypedCall<Response> { typed(Call(self).priority(priority)) }

  /// The call with a value for interceptors: `request.context[key]`.
  public func context<Key: ContextKey>(_ key: Key.Type, _ value: Key.Value) -> TypedCall<Response> {
    typed(Call(self).context(key, value))
  }

  private func typed(_ call: Call) -> TypedCall<Response> { TypedCall(call: call, accept: accept) { try read($0) } }
}

import Streams

extension Network {
  /// Marks everything with one of `tags` as stale and removes it from the cache. What live queries watch is requested again.
  ///
  /// A request in flight may be too old, so another one follows it. Without tags, nothing is invalidated.
  public func invalidate(_ tags: Set<CacheTag>) { if !tags.isEmpty { invalidate(.tags(tags)) } }

  /// Marks everything as stale and removes it from the cache. What live queries watch is requested again.
  public func invalidateAll() { invalidate(.everything) }

  /// Marks the data of `endpoint` as stale and removes it from the cache. If a live query watches it, it is requested again.
  ///
  /// It applies to all watchers of the method and the URL, whatever their header fields. A request that can't be built is
  /// reported to the backend's `onError`.
  public func invalidate(_ endpoint: some Endpoint) {
    do {
      var request = try builder.request(for: CallContent(endpoint), accept: endpoint.accept)
      captureContext(into: &request)
      invalidate(.endpoint(request))
    } catch {
      _ = reading.report(reading.translated(NetworkError.wrapping(error)))
    }
  }

  /// Removes stored responses with `data`, then tells the shared values, such as live queries.
  package func invalidate(_ data: Invalidation) {
    for interceptor in caches {
      switch data {
      case .tags(let tags): for tag in tags { interceptor.cache.removeAll(tagged: tag) }
      case .endpoint(let request): interceptor.cache.removeAll(of: request.url)
      case .everything: interceptor.cache.removeAll()
      }
    }
    shared.invalidate(data)
  }

  /// Invalidates `tags` when a write has ended, unless the server has rejected it.
  func invalidating(_ tags: Set<CacheTag>, after responses: Observable<Response>) -> Observable<Response> {
    .deferred { [self] in
      let isOver = Flag()
      let end: @Sendable (WriteOutcome) -> Void = { [self] outcome in
        if isOver.raise(), outcome != .rejected { invalidate(.tags(tags)) }
      }
      return responses.do(
        onNext: { end(WriteOutcome($0)) }, onError: { end(WriteOutcome(after: $0)) },
        onDispose: { end(.unknown) })
    }
  }
}

/// The effect of a write, as far as the client knows it.
package enum WriteOutcome {
  case acknowledged, rejected, unknown

  package init(_ response: Response) {
    switch response.status {
    case 200...299: self = .acknowledged
    // The server may apply these later, or has already applied the write, as with a temporary status.
    case 409, 412: self = .unknown
    // A server that has applied the first attempt rejects the second one, for example because nothing is left to delete.
    case 400...499 where !Response.isPassing(response.status):
      self = response.request.wasSentBefore ? .unknown : .rejected
    default: self = .unknown
    }
  }

  package init(after error: any Error) {
    let error = NetworkError.wrapping(error)
    let isUnsent =
      error.response == nil && [.encoding, .invalidRequest, .unavailable].contains(error.kind)
      && error.request?.wasSentBefore != true
    let isRejected = error.kind == .status && error.response.map { WriteOutcome($0) } == .rejected
    self = isUnsent || isRejected ? .rejected : .unknown
  }
}

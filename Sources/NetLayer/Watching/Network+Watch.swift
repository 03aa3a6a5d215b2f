import PortableFoundation
import Streams

extension Network {
  /// Emits the state of `endpoint` immediately and after each change, and requests it again when its data is invalidated.
  ///
  /// ```swift
  /// for try await feed in app.watch(Feed()).values {
  ///   posts = feed.value ?? []
  ///   note = feed.error?.message ?? (feed.isFetching ? "…" : "")
  /// }
  /// ```
  /// All watchers of one request (method, URL, header fields, body and user) share its response, also those of copies by
  /// ``with(_:)``. A first watcher starts a request, unless the network has a ``CacheInterceptor`` with a fresh stored
  /// response; a stale one is shown until the server responds. A value remains until the next response, also during an
  /// error. A sign-in or sign-out at the ``AuthenticationInterceptor`` removes it immediately.
  ///
  /// Requests run with the settings of the oldest watcher. The backend's `onError` receives the error of a request once.
  /// Watchers that share an endpoint type share the result of ``Endpoint/read(_:)``.
  ///
  /// - Parameters:
  ///   - endpoint: The endpoint. Its body, if there is one, must be in memory.
  ///   - interval: The time after which the endpoint is requested again, on the backend's `clock`; `nil` for no time.
  ///     Requests of one endpoint share a timer with the shortest interval of its watchers.
  /// - Returns: The snapshots, which neither fail nor complete, on the backend's `delivery` scheduler, or else where they
  ///   occur: on `mapping`, or on the thread that subscribes, edits or invalidates. A loop over `values` receives the newest
  ///   snapshot each time.
  public func watch<E: Endpoint>(_ endpoint: E, every interval: Duration? = nil) -> Observable<Snapshot<E.Output>> {
    let (content, accept) = (CallContent(endpoint), endpoint.accept)
    let form = (endpoint as? any AnyCall)?.form ?? E.self
    return watch(content, accept, nil, every: interval) { network in
      QueryView(form, network.reading) { try endpoint.read($0) }
    } load: {
      $0.load(content, accept: accept)
    }
  }

  func watch<Output>(
    _ content: CallContent, _ accept: String?, _ paging: PagedKey?, every interval: Duration?,
    view: @escaping @Sendable (Network) -> QueryView<Output>,
    load: @escaping @Sendable (Network) -> QuerySource.Load,
    joined: @escaping @Sendable (Query) -> (any Disposable)? = { _ in nil }
  ) -> Observable<Snapshot<Output>> {
    Observable(push: { [self] subscription, next in
      let watcher = QueryWatcher(watching.number(), Sink(subscription, next), backend.delivery)
      do {
        let query = watching.enter(try address(content, accept: accept, paging))
        let isUsable = interval.map { $0 > .zero && $0 < .seconds(1_000_000_000) } ?? false
        query.join(
          watcher, view(self),
          QuerySource(
            watcher: watcher.number, network: self, interval: isUsable ? interval : nil,
            looksUp: paging == nil && !caches.isEmpty, load: load(self)))
        subscription.own(Disposables.create { [watching] in query.leave(watcher.number, watching) })
        if let more = joined(query) { subscription.own(more) }
      } catch {
        watcher.push(Snapshot(error: NetworkError.wrapping(error)))
      }
    })
  }

  /// Marks everything with one of `tags` as stale, removes it from the cache, and requests again what is watched.
  ///
  /// ```swift
  /// app.events(.get("/changes")).subscribe(onNext: { app.invalidate(CacheTag(rawValue: $0.event)) })
  /// ```
  /// A request in flight may be too old, so another one follows it. Without tags, everything is invalidated.
  public func invalidate(_ tags: CacheTag...) {
    tags.isEmpty ? invalidate(nil) { $0.removeAll() } : invalidate(Set(tags))
  }

  /// Marks the data of `endpoint` as stale, removes it from the cache, and requests it again if it is watched.
  ///
  /// It applies to all watchers of the method and the URL, whatever their header fields. A request that can't be built is
  /// reported to the backend's `onError`.
  public func invalidate(_ endpoint: some Endpoint) {
    guard let address = try? address(CallContent(endpoint), accept: endpoint.accept) else { return }
    invalidate([QueryAddress.name(address.request)]) { $0.removeAll(of: address.request.url) }
  }

  /// Requests the watched endpoints again whose values are stale, for example when the app enters the foreground.
  ///
  /// A value is stale if it was invalidated, if its last request failed, or, with a ``CacheInterceptor``, if its freshness
  /// lifetime has passed. A response that states no lifetime has a lifetime of zero.
  public func refetchStale() { for query in watching.queries(named: nil) { query.refreshIfStale() } }

  func invalidate(_ tags: Set<CacheTag>) {
    invalidate(tags.map(QueryAddress.name)) { cache in for tag in tags { cache.removeAll(tagged: tag) } }
  }

  private func invalidate(_ names: [String]?, _ remove: (ResponseCache) -> Void) {
    for interceptor in caches { remove(interceptor.cache) }
    for query in watching.queries(named: names) { query.invalidate() }
  }
}

import PortableFoundation
import Streams

extension Network {
  /// Emits the state of `endpoint`, after a look into the cache, and each change, and requests it again when its data is invalidated.
  ///
  /// ```swift
  /// for try await feed in app.watch(Feed()).values {
  ///   posts = feed.value ?? []
  ///   note = feed.error?.message ?? (feed.isFetching ? "…" : "")
  /// }
  /// ```
  /// All watchers of one request (method, URL, header fields, body and user) share its response, including those of copies by
  /// ``/NetLayer/Network/with(_:)``. A first watcher starts a request, unless the network has a ``/NetLayer/CacheInterceptor`` with a fresh stored
  /// response; a stale one is shown until the server responds. A value remains until the next response, even during an
  /// error. A sign-in or sign-out at the ``/NetLayer/AuthenticationInterceptor`` removes it immediately.
  ///
  /// Requests run with the settings of the oldest watcher. The backend's `onError` receives the error of a request once.
  /// Watchers that share an endpoint type share the result of ``/NetLayer/Endpoint/read(_:)``.
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
    return watch(content, accept, nil, every: interval) { network in
      QueryView(endpoint.form, network.reading) { try endpoint.read($0) }
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

  /// Requests the watched endpoints again whose values are stale, for example when the app enters the foreground.
  ///
  /// A value is stale if it was invalidated, if its last request failed, or, with a ``/NetLayer/CacheInterceptor``, if its freshness
  /// lifetime has passed. Without a stated lifetime or a `Last-Modified`, it is zero.
  public func refetchStale() { for query in watching.queries(named: nil) { query.refreshIfStale() } }
}

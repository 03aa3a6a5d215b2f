import PortableFoundation
import Streams

/// The content of a query: the last response, or a value without one.
struct Loaded: Sendable {
  var response: Response?
  /// The value, if it was not read from one response.
  var value: (any Sendable)?
  /// The continuation after the last page; `nil` at the end.
  var rest: (any Sendable)?
  /// The users who began the calls that returned the value.
  var call: CallAccounts?
  /// The freshness of the response, if a cache follows it.
  var freshness: Freshness?

  /// Returns whether the value is older than the server allows. A response without a lifetime only counts if the app
  /// asks for fresh values.
  func isPast(at now: Date, countsUnstated: Bool = false) -> Bool {
    guard let freshness, countsUnstated || freshness.lifetime > 0 else { return false }
    return freshness.age(at: now.timeIntervalSinceReferenceDate) > freshness.lifetime
  }

  /// Returns whether `other` has the same content, which need not be read again.
  func isSame(as other: Loaded?) -> Bool {
    guard let response, let old = other?.response else { return false }
    return response.status == old.status && response.body == old.body
      && response.headers["Content-Type"] == old.headers["Content-Type"]
  }
}

/// A way to load a query: the network and the request of a watcher.
struct QuerySource: Sendable {
  typealias Load = @Sendable (Loaded?, Query.State.Load) -> Single<Loaded>

  let watcher: Int
  let network: Network
  let interval: Duration?
  /// Whether the cache may have a value to show first.
  let looksUp: Bool
  let load: Load
}

extension Network {
  func load(_ content: CallContent, accept: String?) -> QuerySource.Load {
    { [self] _, kind in
      serverResponse(to: content, accept, kind).map { [self] in Loaded(response: $0, freshness: freshness(of: $0)) }
    }
  }

  /// Emits the response to `content`: for a first load a cache hit, too, else the server's only.
  func serverResponse(to content: CallContent, _ accept: String?, _ kind: Query.State.Load) -> Single<Response> {
    let content = kind == .first ? content : content.refetching(backend.headers)
    return response(to: content, accept: accept).map { [reading] response in
      // It may be older than an acknowledged write.
      guard !response.request.caching.isRefetch || !response.source.isCache else {
        throw reading.error(
          .connection, "the server did not respond; an interceptor returned a stored response", response: response)
      }
      return response
    }
  }

  /// Returns the freshness of a response that has just arrived, if the cache follows the fields of the server.
  private func freshness(of response: Response) -> Freshness? {
    guard let cache = cacheInterceptor, response.request.caching.policy ?? cache.policy == .http else { return nil }
    let now = backend.clock.now.timeIntervalSinceReferenceDate
    return Freshness(
      status: response.status, headers: response.headers, requestedAt: now, receivedAt: now,
      hasQuery: response.request.url.query != nil)
  }
}

extension CallContent {
  /// Returns the call that asks the server, whatever caches contain, including those on the way to the server.
  func refetching(_ inherited: HTTPHeaders) -> CallContent {
    guard caching.policy != .cacheOnly else { return self }
    var content = self
    content.caching.isRefetch = true
    let own = headers["Cache-Control"] ?? inherited["Cache-Control"]
    content.headers["Cache-Control"] = own.map { "\($0), no-cache" } ?? "no-cache"
    return content
  }
}

import PortableFoundation
import Streams

extension Network {
  /// Sends `write`, and shows `edit` on the watched value of `endpoint` until the server's response contains it.
  ///
  /// ```swift
  /// try await app.fetch(Like(id: 7), editing: Feed()) { posts in
  ///   for i in posts.indices where posts[i].id == 7 { posts[i].isLiked = true }
  /// }
  /// ```
  /// No request of `endpoint` overlaps the write: a request in flight is cancelled, and one follows the write. If the
  /// server rejects the write, the edit disappears before the error is thrown. A status of 400 to 499 is a rejection, except
  /// 408, 409, 412, 425, 429, and any status after a retry. After any other error, the edit disappears and the endpoint is
  /// requested again, because the server may have applied the write.
  ///
  /// A slow write, such as an upload, delays all requests of `endpoint`: send the file first, without an edit.
  ///
  /// - Parameters:
  ///   - write: The call that changes data.
  ///   - endpoint: The endpoint whose value contains the change.
  ///   - edit: The change. It runs again for each snapshot, so it must be fast, and must do nothing if the item is missing.
  /// - Throws: The call's `NetworkError`; its kind is `cancelled` if the task is cancelled.
  @discardableResult
  public func fetch<W: Endpoint, E: Endpoint>(
    _ write: W, editing endpoint: E, _ edit: @escaping @Sendable (inout E.Output) -> Void
  ) async throws(NetworkError) -> W.Output { try await fetch(write, edits: [Edit(endpoint, edit)]) }

  /// Sends `write` and shows `edits` on the watched values of several endpoints. The rules are those of one edit.
  ///
  /// - Throws: The call's `NetworkError`; its kind is `cancelled` if the task is cancelled.
  @discardableResult
  public func fetch<W: Endpoint>(_ write: W, edits: [Edit]) async throws(NetworkError) -> W.Output {
    try await awaited(written(write, edits, isDelivered: false))
  }

  /// Sends `write`, whose result is the new value of `endpoint`, so that no further request is needed.
  ///
  /// If another write overlaps this one, the result may lack its change, and the endpoint is requested again.
  ///
  /// - Throws: The call's `NetworkError`; its kind is `cancelled` if the task is cancelled.
  @discardableResult
  public func fetch<W: Endpoint, E: Endpoint>(
    _ write: W, updating endpoint: E, _ edit: @escaping @Sendable (inout E.Output) -> Void = { _ in }
  ) async throws(NetworkError) -> W.Output where W.Output == E.Output {
    try await awaited(written(write, [Edit(endpoint, edit)], updates: true, isDelivered: false))
  }

  /// Sends `write` and shows `edit` from the subscription to the result, as `fetch` does. Disposing ends the edit.
  public func request<W: Endpoint, E: Endpoint>(
    _ write: W, editing endpoint: E, _ edit: @escaping @Sendable (inout E.Output) -> Void
  ) -> Single<W.Output> { written(write, [Edit(endpoint, edit)]) }

  /// Sends `write` and shows `edits` from the subscription to the result, as `fetch` does. Disposing ends the edits.
  public func request<W: Endpoint>(_ write: W, edits: [Edit]) -> Single<W.Output> { written(write, edits) }

  /// Sends `write` and uses its result as the new value of `endpoint`, as `fetch` does.
  public func request<W: Endpoint, E: Endpoint>(
    _ write: W, updating endpoint: E, _ edit: @escaping @Sendable (inout E.Output) -> Void = { _ in }
  ) -> Single<W.Output> where W.Output == E.Output { written(write, [Edit(endpoint, edit)], updates: true) }

  private func written<W: Endpoint>(
    _ write: W, _ edits: [Edit], updates: Bool = false, isDelivered: Bool = true
  ) -> Single<W.Output> {
    .using { [self] in
      try EditedWrite(self, edits)
    } singleFactory: { [self] editing in
      let responses = response(to: CallContent(write), accept: write.accept).asObservable()
        .do(onError: { editing.end(WriteOutcome(after: $0)) })
      let read: @Sendable (Response) throws -> W.Output = { response in
        do {
          let result = try write.read(try response.validated())
          editing.end(.acknowledged, updates ? result : nil, response.request.context[CallAccounts.self])
          return result
        } catch {
          editing.end(WriteOutcome(after: error))
          throw error
        }
      }
      return Single(trusted: responses.reading(isDelivered: isDelivered, read))
    }
  }
}

/// A write in flight and its edits. Disposing it ends the edits of a write without a result.
final class EditedWrite: Disposable {
  private let network: Network
  private let watching: Watching
  private let number: Int
  private let edits: [(address: QueryAddress, query: Query, change: any Sendable)]
  private let isOver = Flag()

  init(_ network: Network, _ edits: [Edit]) throws {
    self.network = network
    let watching = network.watching
    (self.watching, number) = (watching, watching.number())
    let addresses = try edits.map { try network.address($0.content, accept: $0.accept, $0.paging) }
    self.edits = zip(addresses, edits).map { ($0, watching.enter($0), $1.change) }
    for edit in self.edits { edit.query.begin(number, edit.change, network) }
  }

  func dispose() { end(.unknown) }

  /// Ends the edits, once. `value` is the new value of the edited endpoint, and `call` has the users of the write.
  func end(_ outcome: WriteOutcome, _ value: (any Sendable)? = nil, _ call: CallAccounts? = nil) {
    guard isOver.raise() else { return }
    if outcome != .rejected {
      for interceptor in network.caches {
        for edit in edits { interceptor.cache.removeAll(of: edit.address.request.url) }
      }
    }
    for edit in edits { edit.query.end(number, outcome, value, call, watching) }
  }
}

import Dispatch
import Streams

extension Observable {
  /// Emits all pages as one stream; each page is requested after the previous one has been delivered.
  ///
  /// ```swift
  /// Observable.pages(startingAt: nil) { network.feed(cursor: $0) }
  /// ```
  /// Follows the cursors of the pages until a page has none. A loop over `values` requests each page on demand.
  /// `take` and disposal end the stream without further requests.
  ///
  /// - Parameters:
  ///   - cursor: The cursor of the first page; `nil` for the beginning.
  ///   - page: A closure that returns the page at a cursor.
  /// - Returns: The pages. Fails with the error of the call. It also fails with a `NetworkError` of kind `sequence` and
  ///   the page's `index` if a cursor is repeated, because the stream would never end.
  public static func pages<Item: Sendable>(
    startingAt cursor: String?, _ page: @escaping @Sendable (String?) throws -> Observable<Page<Item>>
  ) -> Observable<Page<Item>> where Element == Page<Item> {
    walk(from: cursor, page) { page, before, _ in
      guard let next = page.cursor else { return nil }
      return before.contains(next) ? .failure(.repeated(next, after: before.count)) : .success(next)
    }
  }

  /// Emits all pages as one stream, by number, until a page is empty or repeats the previous one.
  ///
  /// ```swift
  /// Observable.pages(startingAt: 1) { network.movies(page: $0) }
  /// ```
  /// Some servers return their last page for every number beyond it. A page from `list(_:)` repeats another one if
  /// their payloads have the same bytes. Pages that the app creates are compared by their items, if the items are
  /// `Equatable`.
  ///
  /// - Parameters:
  ///   - number: The number of the first page.
  ///   - page: A closure that returns the page of a number.
  /// - Returns: The pages that have items, without a repeated page.
  public static func pages<Item: Sendable>(
    startingAt number: Int, _ page: @escaping @Sendable (Int) throws -> Observable<Page<Item>>
  ) -> Observable<Page<Item>> where Element == Page<Item> {
    walk(from: number, page, endsAtRepeat: true) { page, _, number in
      page.items.isEmpty ? nil : .success(number + 1)
    }
    .filter { !$0.items.isEmpty }
  }

  /// Emits all pages as one stream, like the overload with streams, where `page` is an `async` function.
  ///
  /// ```swift
  /// Observable.pages(startingAt: nil) { cursor in try await api.feed(after: cursor) }
  /// ```
  public static func pages<Item: Sendable>(
    startingAt cursor: String?, _ page: @escaping @Sendable (String?) async throws -> Page<Item>
  ) -> Observable<Page<Item>> where Element == Page<Item> {
    pages(startingAt: cursor) { cursor in Single.from { try await page(cursor) }.asObservable() }
  }

  /// Emits all pages by number, like the overload with streams, where `page` is an `async` function.
  public static func pages<Item: Sendable>(
    startingAt number: Int, _ page: @escaping @Sendable (Int) async throws -> Page<Item>
  ) -> Observable<Page<Item>> where Element == Page<Item> {
    pages(startingAt: number) { number in Single.from { try await page(number) }.asObservable() }
  }

  /// Emits the pages from `start`.
  ///
  /// - Parameters:
  ///   - endsAtRepeat: `true` if a page that repeats the previous one is the end.
  ///   - next: A closure that returns the place after a page, based on the places already requested; `nil` at the end.
  private static func walk<Item: Sendable, Place: Hashable & Sendable>(
    from start: Place, _ page: @escaping @Sendable (Place) throws -> Observable<Page<Item>>, endsAtRepeat: Bool = false,
    next: @escaping @Sendable (Page<Item>, Set<Place>, Place) -> Result<Place, NetworkError>?
  ) -> Observable<Page<Item>> where Element == Page<Item> {
    // The walk is owned before it starts, because pages that arrive immediately must stop as soon as no one requests
    // more.
    Observable.using {
      PageWalk(start, page, endsAtRepeat: endsAtRepeat, next)
    } observableFactory: { walk in
      Observable(push: { subscription, next in walk.go(subscription, next) })
    }
  }
}

extension NetworkError {
  /// Returns the error of a repeated cursor.
  static func repeated(_ cursor: String, after pages: Int) -> NetworkError {
    let count = pages == 1 ? "1 page" : "\(pages) pages"
    var error = NetworkError(
      kind: .sequence, message: NetworkError.Messages.localized.parse,
      reason: "the cursor \(cursor.debugDescription) was repeated after \(count), so paging would never end")
    error.index = pages - 1
    return error
  }
}

/// The state of one subscription to all pages. It is a loop, so that pages that arrive immediately don't deepen the
/// stack.
private final class PageWalk<Item: Sendable, Place: Hashable & Sendable>: Disposable {
  private struct State {
    var next: Place?
    var seen: Set<Place> = []
    /// The previous page, if a repeated page ends the walk.
    var before: Page<Item>?
    var isRunning = false
    var isDisposed = false

    var isDue: Bool { !isRunning && !isDisposed && next != nil }
  }

  /// Guards the state, which the page's stream and the disposer access. Pages are requested and emitted outside the
  /// lock.
  private let state: Locked<State>
  private let current = SerialDisposable()
  private let page: @Sendable (Place) throws -> Observable<Page<Item>>
  private let endsAtRepeat: Bool
  private let following: @Sendable (Page<Item>, Set<Place>, Place) -> Result<Place, NetworkError>?

  init(
    _ start: Place, _ page: @escaping @Sendable (Place) throws -> Observable<Page<Item>>, endsAtRepeat: Bool,
    _ following: @escaping @Sendable (Page<Item>, Set<Place>, Place) -> Result<Place, NetworkError>?
  ) {
    state = Locked(State(next: start))
    self.page = page
    self.endsAtRepeat = endsAtRepeat
    self.following = following
  }

  func dispose() {
    state.withLock { $0.isDisposed = true }
    current.dispose()
  }

  /// Requests pages while the subscriber demands them. If another thread is already in this loop, that thread
  /// continues.
  func go(_ subscription: Subscription, _ next: @escaping Observable<Page<Item>>.Next) {
    while state.withLock(\.isDue),
      subscription.takesMore(orCall: { [self] in resume(subscription, next) }), let place = takeNext()
    {
      request(place, subscription, next)
    }
  }

  /// Continues on a global queue. The resuming thread must not call the caller's function. It may be the main thread,
  /// for example when a stream in a `concatMap` ends there.
  private func resume(_ subscription: Subscription, _ next: @escaping Observable<Page<Item>>.Next) {
    DispatchQueue.global(qos: .userInitiated).async { [self] in go(subscription, next) }
  }

  private func takeNext() -> Place? {
    // The only reference to the set, so that the insertion does not copy it.
    var seen: Set<Place> = []
    let next = state.withLock { state -> Place? in
      guard state.isDue, let next = state.next else { return nil }
      state.isRunning = true
      state.next = nil
      swap(&seen, &state.seen)
      return next
    }
    guard let next else { return nil }
    // Outside the lock, because hashing a place is the caller's code.
    seen.insert(next)
    state.withLock { swap(&seen, &$0.seen) }
    return next
  }

  private func request(_ place: Place, _ subscription: Subscription, _ next: @escaping Observable<Page<Item>>.Next) {
    // Guards the last page, which the page's stream writes and its completion reads.
    let last = Locked<Page<Item>?>(nil)
    do {
      current.disposable = try page(place).subscribe(
        onNext: { [self] page in
          last.withLock { $0 = page }
          if !isRepeat(page) { subscription.deliverIfActive(page, to: next) }
        },
        onError: { subscription.fail($0) },
        onCompleted: { [self] in completed(last.withLock { $0 }, at: place, subscription, next) })
    } catch {
      subscription.fail(error)
    }
    state.withLock { $0.isRunning = false }
  }

  private func isRepeat(_ page: Page<Item>) -> Bool {
    state.withLock { $0.before }.map(page.repeats) ?? false
  }

  private func completed(
    _ page: Page<Item>?, at place: Place, _ subscription: Subscription, _ next: @escaping Observable<Page<Item>>.Next
  ) {
    if let page, endsAtRepeat {
      if isRepeat(page) { return subscription.complete() }
      state.withLock { $0.before = page }
    }
    let seen = state.withLock { $0.seen }
    switch page.flatMap({ following($0, seen, place) }) {
    case nil: subscription.complete()
    case .failure(let error): subscription.fail(error)
    case .success(let following):
      state.withLock { $0.next = following }
      go(subscription, next)
    }
  }
}

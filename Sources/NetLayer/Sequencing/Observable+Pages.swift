import Dispatch
import Streams

extension Observable {
  /// All pages as one stream: each is asked for when the one before has been delivered.
  ///
  /// ```swift
  /// Observable.pages(startingAt: nil) { network.feed(cursor: $0) }
  /// ```
  /// Follows the pages' cursors until there is none. A loop over `values()` requests a page when it asks for it. `take` and
  /// dispose end it, and nothing more is requested.
  ///
  /// - Parameters:
  ///   - cursor: where to begin; `nil` is the beginning.
  ///   - page: gives the page at a cursor.
  /// - Returns: the pages. Fails with the error of the call, or with a `NetworkError` of kind `sequence` and the page's
  ///   `index` where a cursor comes a second time, as the stream would never end.
  public static func pages<Item: Sendable>(
    startingAt cursor: String?, _ page: @escaping @Sendable (String?) throws -> Observable<Page<Item>>
  ) -> Observable<Page<Item>> where Element == Page<Item> {
    walk(from: cursor, page) { page, before, _ in
      guard let next = page.cursor else { return nil }
      return before.contains(next) ? .failure(.repeated(next, after: before.count)) : .success(next)
    }
  }

  /// All pages as one stream, by number, until one is empty or repeats the one before.
  ///
  /// ```swift
  /// Observable.pages(startingAt: 1) { network.movies(page: $0) }
  /// ```
  /// Some servers return their last page for every number beyond it. A page from `list(_:)` repeats another if the payload has
  /// the same bytes; one that the app made itself, if its items are equal, where their type is `Equatable`.
  ///
  /// - Parameters:
  ///   - number: the number of the first page.
  ///   - page: gives the page of a number.
  /// - Returns: the pages that have items, without the one that repeats another.
  public static func pages<Item: Sendable>(
    startingAt number: Int, _ page: @escaping @Sendable (Int) throws -> Observable<Page<Item>>
  ) -> Observable<Page<Item>> where Element == Page<Item> {
    walk(from: number, page, endsAtRepeat: true) { page, _, number in
      page.items.isEmpty ? nil : .success(number + 1)
    }
    .filter { !$0.items.isEmpty }
  }

  /// All pages as one stream, each given by an `async` function: else as the form with streams.
  ///
  /// ```swift
  /// Observable.pages(startingAt: nil) { cursor in try await network.fetch(.get("/feed", query: ["cursor": cursor])) }
  /// ```
  public static func pages<Item: Sendable>(
    startingAt cursor: String?, _ page: @escaping @Sendable (String?) async throws -> Page<Item>
  ) -> Observable<Page<Item>> where Element == Page<Item> {
    pages(startingAt: cursor) { cursor in Single.from { try await page(cursor) }.asObservable() }
  }

  /// All pages by number, each given by an `async` function: else as the form with streams.
  public static func pages<Item: Sendable>(
    startingAt number: Int, _ page: @escaping @Sendable (Int) async throws -> Page<Item>
  ) -> Observable<Page<Item>> where Element == Page<Item> {
    pages(startingAt: number) { number in Single.from { try await page(number) }.asObservable() }
  }

  /// - Parameters:
  ///   - endsAtRepeat: whether a page that repeats the one before is the end.
  ///   - next: where to go after a page, given the places that have been; `nil` is the end.
  private static func walk<Item: Sendable, Place: Hashable & Sendable>(
    from start: Place, _ page: @escaping @Sendable (Place) throws -> Observable<Page<Item>>, endsAtRepeat: Bool = false,
    next: @escaping @Sendable (Page<Item>, Set<Place>, Place) -> Result<Place, NetworkError>?
  ) -> Observable<Page<Item>> where Element == Page<Item> {
    // The walk is owned before it starts: pages that come at once must stop as soon as no one wants more.
    Observable.using {
      PageWalk(start, page, endsAtRepeat: endsAtRepeat, next)
    } observableFactory: { walk in
      Observable(push: { subscription, next in walk.go(subscription, next) })
    }
  }
}

extension NetworkError {
  /// The error of a cursor that would lead back.
  static func repeated(_ cursor: String, after pages: Int) -> NetworkError {
    let count = pages == 1 ? "1 page" : "\(pages) pages"
    var error = NetworkError(
      kind: .sequence, message: Messages.localized.parse,
      reason: "the cursor \(cursor.debugDescription) came a second time, after \(count): the pages would never end")
    error.index = pages - 1
    return error
  }
}

/// The state of one subscription to all pages. A loop, so that pages which come at once do not deepen the stack.
private final class PageWalk<Item: Sendable, Place: Hashable & Sendable>: Disposable {
  private struct State {
    var next: Place?
    var seen: Set<Place> = []
    /// The page before, where a repetition ends the walk.
    var before: Page<Item>?
    var isRunning = false
    var isDisposed = false

    var isDue: Bool { !isRunning && !isDisposed && next != nil }
  }

  /// The page's stream and the disposer; pages are asked for and emitted after. Places are hashed inside, which is
  /// the caller's code.
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

  /// Asks for the pages that are due, when the subscriber takes one; whoever is in here already goes on for the others.
  func go(_ subscription: Subscription, _ next: @escaping Observable<Page<Item>>.Next) {
    while state.withLock(\.isDue),
      subscription.takesMore(orCall: { [self] in resume(subscription, next) }), let place = takeNext()
    {
      ask(place, subscription, next)
    }
  }

  /// Who lets it go on may be on the main thread, as where a stream in a `concatMap` ends there: the caller's function is not
  /// called there.
  private func resume(_ subscription: Subscription, _ next: @escaping Observable<Page<Item>>.Next) {
    DispatchQueue.global(qos: .userInitiated).async { [self] in go(subscription, next) }
  }

  private func takeNext() -> Place? {
    state.withLock { state in
      guard state.isDue, let next = state.next else { return nil }
      state.isRunning = true
      state.next = nil
      state.seen.insert(next)
      return next
    }
  }

  private func ask(_ place: Place, _ subscription: Subscription, _ next: @escaping Observable<Page<Item>>.Next) {
    // The page's stream writes, its completion reads.
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

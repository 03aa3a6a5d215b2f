import Streams

extension Observable {
  /// Emits all pages as one stream; each page is requested after the previous one has been delivered.
  ///
  /// Follows the cursors of the pages until a page has none. A loop over `values` requests each page on demand.
  /// `take` and disposal end the stream without further requests.
  ///
  /// - Returns: The pages. Fails with the error of the call, or of kind `repeatedPage` with the page's `index` if a
  ///   cursor is repeated, because the stream would never end.
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
  /// A page from `list(_:)` repeats another one if their payloads have the same bytes. Pages that the app creates are
  /// compared by their items, if the items are `Equatable`.
  ///
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

  /// Emits the pages from `start`. `next` returns the place after a page, based on the places already requested; `nil`
  /// at the end.
  private static func walk<Item: Sendable, Place: Hashable & Sendable>(
    from start: Place, _ page: @escaping @Sendable (Place) throws -> Observable<Page<Item>>, endsAtRepeat: Bool = false,
    next: @escaping @Sendable (Page<Item>, Set<Place>, Place) -> Result<Place, NetworkError>?
  ) -> Observable<Page<Item>> where Element == Page<Item> {
    .concat(PageSequence(start: start, page: page, endsAtRepeat: endsAtRepeat, following: next), isPaced: true)
  }
}

extension NetworkError {
  package static func repeated(_ cursor: String, after pages: Int) -> NetworkError {
    let count = pages == 1 ? "1 page" : "\(pages) pages"
    var error = NetworkError(
      kind: .repeatedPage, message: NetworkError.Messages.localized.parse,
      reason: "the cursor \(cursor.debugDescription) was repeated after \(count), so paging would never end")
    error.index = pages - 1
    return error
  }
}

/// The streams of the pages, each of which is created when the previous one has ended.
private struct PageSequence<Item: Sendable, Place: Hashable & Sendable>: Sequence, Sendable {
  let start: Place
  let page: @Sendable (Place) throws -> Observable<Page<Item>>
  let endsAtRepeat: Bool
  let following: @Sendable (Page<Item>, Set<Place>, Place) -> Result<Place, NetworkError>?

  func makeIterator() -> Iterator { Iterator(pages: self) }

  struct Iterator: IteratorProtocol {
    private let pages: PageSequence
    private var seen: Set<Place> = []
    /// The place of the last page that was requested.
    private var place: Place?
    /// The page of `place`, which its stream sets before it ends.
    private let last = Cell<Page<Item>?>(nil)
    /// The previous page, if a repeated page ends the walk.
    private let before = Cell<Page<Item>?>(nil)

    init(pages: PageSequence) { self.pages = pages }

    mutating func next() -> Observable<Page<Item>>? {
      switch followingPlace {
      case nil: return nil
      case .failure(let error): return .error(error)
      case .success(let place): return page(at: place)
      }
    }

    private var followingPlace: Result<Place, NetworkError>? {
      guard let place else { return .success(pages.start) }
      guard let page = last.value, !isRepeat(page) else { return nil }
      if pages.endsAtRepeat { before.value = page }
      return pages.following(page, seen, place)
    }

    private mutating func page(at place: Place) -> Observable<Page<Item>> {
      self.place = place
      seen.insert(place)
      last.value = nil
      return Observable.deferred { [pages] in try pages.page(place) }
        .filter { [last, before] page in
          last.value = page
          return before.value.map { !page.repeats($0) } ?? true
        }
    }

    private func isRepeat(_ page: Page<Item>) -> Bool { before.value.map(page.repeats) ?? false }
  }
}

import Streams

extension Network {
  /// Emits all pages of `endpoint` as one stream; each page is requested after the previous one has been delivered.
  ///
  /// A loop over `values` requests each page on demand. `take` and disposal end the stream without further requests.
  ///
  /// `path` is the path of the array in the payload, such as `items`; `nil` if the payload is the array.
  ///
  /// - Returns: The pages, on the backend's `delivery` scheduler. Fails with the error of the call, or of kind
  ///   `repeatedPage` with the page's `index` if a page is repeated, because the stream would never end.
  public func pages<Item: Decodable & Sendable>(
    _ endpoint: some Endpoint, of type: Item.Type = Item.self, at path: String? = nil, by paging: Paging = .link
  ) -> Observable<Page<Item>> {
    let first = CallContent(endpoint)
    return Observable.deferred {
      let walk = PagedCall<Item>(self.begun(first), paging, path)
      return Observable.pages(startingAt: nil) { place in
        try self.response(to: walk.call(at: place), accept: "application/json").asObservable().delivering {
          try walk.page(of: $0, at: place)
        }
      }
      .filter { !$0.items.isEmpty || !paging.countsItems }
    }
  }

  /// Returns the items of all pages of `endpoint`.
  ///
  /// The parameters are those of `pages`. Cancelling the task cancels the request. `maxItems` is the maximum number of items,
  /// 100,000 by default, and `nil` for no limit: a server could continue forever. A page without items counts as one.
  ///
  /// - Throws: The `NetworkError` of the call or of `pages`; of kind `tooLarge` for more than `maxItems` items; of kind
  ///   `cancelled` if the task is cancelled.
  public func fetchAll<Item: Decodable & Sendable>(
    _ endpoint: some Endpoint, of type: Item.Type = Item.self, at path: String? = nil, by paging: Paging = .link,
    maxItems: Int? = 100_000
  ) async throws(NetworkError) -> [Item] {
    let pages = pages(endpoint, of: type, at: path, by: paging)
    let lists = Observable.deferred { [reading] in
      // Guards the number of items, which the thread of each page adds to.
      let total = Locked(0)
      return pages.map { page throws -> [Item] in
        // A page without items counts, too, because a server could continue forever with them.
        let count = total.withLock { total in
          total += max(1, page.items.count)
          return total
        }
        if let maxItems, count > maxItems {
          throw reading.report(
            reading.error(
              .tooLarge,
              "the pages have more than \(maxItems) items; raise maxItems, or read them one by one with pages(_:of:)"))
        }
        return page.items
      }
    }
    return try await awaited(lists.toArray().map { Array($0.joined()) })
  }
}

import Streams

extension Network {
  /// All pages of `endpoint` as one stream: each is requested when the one before has been delivered.
  ///
  /// ```swift
  /// for try await page in github.pages(.get("/user/repos"), of: Repo.self).values() { … }
  /// ```
  /// A loop over `values()` requests a page when it asks for it. `take` and dispose end it, and nothing more is requested.
  ///
  /// - Parameters:
  ///   - endpoint: the first page.
  ///   - type: the items' type.
  ///   - path: where the array stands in the payload, such as `items`; without it, the payload is the array.
  ///   - paging: how the pages follow one another.
  /// - Returns: the pages, on the backend's `delivery` scheduler. Fails with the error of the call, or with a
  ///   `NetworkError` of kind `sequence` and the page's `index` where a page comes a second time: the pages would never end,
  ///   as where the server does not know the parameter.
  public func pages<Item: Decodable & Sendable>(
    _ endpoint: some Endpoint, of type: Item.Type = Item.self, at path: String? = nil, by paging: Paging = .link
  ) -> Observable<Page<Item>> {
    let first = Call(endpoint)
    return Observable.deferred {
      let walk = PagedCall<Item>(first, paging, path)
      return Observable.pages(startingAt: nil) { place in
        try self.send(walk.call(at: place), accept: "application/json").asObservable().delivering {
          try walk.page(of: $0, at: place)
        }
      }
      .filter { !$0.items.isEmpty || !paging.countsItems }
    }
  }
}

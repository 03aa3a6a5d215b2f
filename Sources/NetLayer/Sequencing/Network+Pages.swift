import Streams

extension Network {
  /// Emits all pages of `endpoint` as one stream; each page is requested after the previous one has been delivered.
  ///
  /// ```swift
  /// for try await page in github.pages(.get("/user/repos"), of: Repo.self).values { show(page.items) }
  /// ```
  /// A loop over `values` requests each page on demand. `take` and disposal end the stream without further requests.
  ///
  /// - Parameters:
  ///   - endpoint: The endpoint of the first page.
  ///   - type: The type of the items.
  ///   - path: The path of the array in the payload, such as `items`; `nil` if the payload is the array.
  ///   - paging: The style in which the API links its pages.
  /// - Returns: The pages, on the backend's `delivery` scheduler. Fails with the error of the call. It also fails with
  ///   a `NetworkError` of kind `sequence` and the page's `index` if a page is repeated, because the stream would never
  ///   end. A server that ignores the parameter repeats its pages.
  public func pages<Item: Decodable & Sendable>(
    _ endpoint: some Endpoint, of type: Item.Type = Item.self, at path: String? = nil, by paging: Paging = .link
  ) -> Observable<Page<Item>> {
    let first = CallContent(endpoint)
    return Observable.deferred {
      let walk = PagedCall<Item>(first, paging, path)
      return Observable.pages(startingAt: nil) { place in
        try self.response(to: walk.call(at: place), accept: "application/json").asObservable().delivering {
          try walk.page(of: $0, at: place)
        }
      }
      .filter { !$0.items.isEmpty || !paging.countsItems }
    }
  }
}

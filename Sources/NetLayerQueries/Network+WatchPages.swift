import Streams

extension Network {
  /// Emits the loaded pages of `endpoint`; each element of `more` loads another page.
  ///
  /// When the data is invalidated, all loaded pages are requested again, one after the other, and replaced in one
  /// snapshot. If a page fails, the previous pages remain next to the error. Elements of `more` while another page is
  /// loading have no effect, and neither have those after the last page. Those during a request of all pages load one page
  /// after it.
  ///
  /// - Parameters:
  ///   - endpoint: The endpoint of the first page.
  ///   - type: The type of the items.
  ///   - path: The path of the array in the payload, such as `items`; `nil` if the payload is the array.
  ///   - paging: The style in which the API links its pages.
  ///   - more: A stream or a subject that requests another page. Its error is ignored.
  /// - Returns: The snapshots, as of ``watch(_:every:)``.
  public func watchPages<Item: Decodable & Sendable>(
    _ endpoint: some Endpoint, of type: Item.Type = Item.self, at path: String? = nil, by paging: Paging = .link,
    loadingMoreOn more: some ObservableConvertibleType<Void>
  ) -> Observable<Snapshot<[Page<Item>]>> {
    let content = CallContent(endpoint)
    return watch(content, "application/json", PagedKey(type, path, paging), every: nil) { network in
      // Pages are values, so no response is read.
      QueryView([Page<Item>].self, network.reading) { _ in [] }
    } load: {
      $0.loadPages(of: type, content, path, paging)
    } joined: { query in
      more.asObservable().subscribe(onNext: { query.more() }, onError: { _ in })
    }
  }

  private func loadPages<Item: Decodable & Sendable>(
    of type: Item.Type, _ content: CallContent, _ path: String?, _ paging: Paging
  ) -> QuerySource.Load {
    { [self] former, kind in
      let pages = former?.value as? [Page<Item>] ?? []
      if kind == .more {
        guard let former, let rest = former.rest as? PagesRest<Item> else { return .just(former ?? Loaded()) }
        let call = PagedCall(rest.call)
        return page(call, at: rest.place, kind).map { page in
          if page.items.isEmpty, paging.countsItems { return Loaded(value: pages, call: former.call) }
          if page.cursor == rest.place { throw NetworkError.repeated(rest.place, after: pages.count + 1) }
          return Loaded(
            value: pages + [page], rest: page.cursor.map { PagesRest(call: call, place: $0) }, call: former.call)
        }
      }
      let begun = begun(content)
      let call = PagedCall<Item>(begun, paging, path)
      return Observable.pages(startingAt: nil) { [self] in page(call, at: $0, kind).asObservable() }
        .filter { !$0.items.isEmpty || !paging.countsItems }
        .take(max(pages.count, 1)).toArray()
        .map { pages in
          Loaded(
            value: pages, rest: pages.last?.cursor.map { PagesRest(call: call, place: $0) },
            call: begun.context[CallAccounts.self])
        }
    }
  }

  private func page<Item>(
    _ call: PagedCall<Item>, at place: String?, _ kind: Query.State.Load
  ) -> Single<Page<Item>> {
    .deferred { [self] in
      try serverResponse(to: call.call(at: place), "application/json", kind).map { try call.page(of: $0, at: place) }
    }
  }
}

/// The part of a query's key that distinguishes pages from single responses, and pages of different items.
struct PagedKey: Sendable {
  let text: String

  init<Item>(_ type: Item.Type, _ path: String?, _ paging: Paging) {
    text = "\(ObjectIdentifier(type)) \(path ?? "") \(paging.name)"
  }
}

/// The place of the next page.
private struct PagesRest<Item: Decodable & Sendable>: Sendable {
  let call: PagedCall<Item>
  let place: String
}

import Foundation
import Streams

/// How the pages of an API follow one another.
public enum Paging: Sendable, Hashable {
  /// By the URL of the `Link` field with the relation `next` (RFC 8288), as GitHub's do.
  case link
  /// By a cursor that stands at a path of the body, such as `meta.next`, and is sent as a parameter of the query.
  case cursor(at: String = "cursor", parameter: String = "cursor")
  /// By the page's number, until a page is empty.
  case number(parameter: String = "page", from: Int = 1)
  /// By how many items have been there, until a page is empty.
  case offset(parameter: String = "offset", from: Int = 0)
}

extension Network {
  /// All pages of `endpoint` as one stream: each is asked for when the one before has been delivered.
  ///
  /// ```swift
  /// for try await page in github.pages(.get("/user/repos"), of: Repo.self).values() { … }
  /// ```
  /// `take` and dispose end it, and nothing more is asked for.
  ///
  /// - Parameters:
  ///   - endpoint: the first page.
  ///   - type: the items' type.
  ///   - path: where the array stands in the payload, such as `items`; without it, the payload is the array.
  ///   - paging: how the pages follow one another.
  /// - Returns: the pages, on the back end's `delivery` scheduler. Fails with the error of the call, or with a
  ///   `NetworkError` of kind `sequence` and the page's `index` where a page comes a second time: the pages would never end,
  ///   as where the server does not know the parameter.
  public func pages<Item: Decodable & Sendable>(
    _ endpoint: some Endpoint, of type: Item.Type = Item.self, at path: String? = nil, by paging: Paging = .link
  ) -> Observable<Page<Item>> {
    let first = Call(endpoint)
    return Observable.deferred {
      let walk = PagedCall<Item>(first, paging, path)
      return Observable.pages(startingAt: nil) { place in
        self.send(walk.call(at: place), accept: "application/json").asObservable().delivering {
          try walk.page(of: $0, at: place)
        }
      }
      .filter { !$0.items.isEmpty || !paging.countsItems }
    }
  }
}

extension Paging {
  /// Whether an empty page is the end.
  fileprivate var countsItems: Bool {
    switch self {
    case .link, .cursor: false
    case .number, .offset: true
    }
  }
}

/// The pages of one call for one subscriber.
private final class PagedCall<Item: Decodable & Sendable>: Sendable {
  private let first: Call
  private let paging: Paging
  private let path: String?
  private struct State {
    var count = 0
    /// The hash of the last page.
    var hash: Int?
    /// Who answered.
    var origin: Origin?
  }

  /// Pages come one at a time, on any thread.
  private let state = Locked(State())

  init(_ first: Call, _ paging: Paging, _ path: String?) {
    (self.first, self.paging, self.path) = (first, paging, path)
  }

  /// The call for the page at `place`; `nil` is the first.
  func call(at place: String?) -> Call {
    switch (paging, place) {
    case (.link, let url?):
      // The call's fields may be credentials: they go nowhere else.
      let isAtHome = URL(string: url).map { Origin($0) == state.withLock(\.origin) } ?? false
      var call = Call(.get, url, headers: isAtHome ? first.headers : [:], caching: first.caching)
      (call.timeout, call.priority, call.context) = (first.timeout, first.priority, first.context)
      return call
    case (.link, nil), (.cursor, nil): return first
    case (.cursor(_, let parameter), let cursor?): return call(parameter, cursor)
    case (.number(let parameter, let start), let number): return call(parameter, number ?? String(start))
    case (.offset(let parameter, let start), let offset): return call(parameter, offset ?? String(start))
    }
  }

  /// The call with a parameter in place of those of that name, also where they stand in the text of its URL.
  private func call(_ parameter: String, _ value: String) -> Call {
    var call = first.query([parameter: value])
    let parts = call.path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return call }
    let others = parts[1].split(separator: "&").filter {
      String($0.prefix { $0 != "=" }).removingPercentEncoding != parameter
    }
    call.path = parts[0] + (others.isEmpty ? "" : "?") + others.joined(separator: "&")
    return call
  }

  /// The page that `response` is, with the place of the next one as its cursor.
  func page(of response: Response, at place: String?) throws -> Page<Item> {
    let json = try response.common()
    var page = try json.page(of: Item.self, at: path)
    switch paging {
    case .link:
      state.withLock { $0.origin = Origin(response.url) }
      page.cursor = response.links["next"]?.absoluteString
    case .cursor(let path, _): page.cursor = try json.cursor(at: path)
    case .number(_, let start): page.cursor = try next(page, from: place, or: start, step: 1)
    case .offset(_, let start): page.cursor = try next(page, from: place, or: start, step: page.items.count)
    }
    return page
  }

  private func next(_ page: Page<Item>, from place: String?, or start: Int, step: Int) throws -> String? {
    guard !page.items.isEmpty else { return nil }
    let former = state.withLock { state in
      defer { (state.count, state.hash) = (state.count + 1, page.fingerprint) }
      return state
    }
    let here = place.flatMap(Int.init) ?? start
    if former.count > 0, former.hash == page.fingerprint {
      var error = NetworkError(
        kind: .sequence, message: Messages.localized.parse,
        reason:
          "the page at \(here) has the same items as the one before: does the server know its parameter? (\(paging))")
      error.index = former.count
      throw error
    }
    return String(here + step)
  }
}

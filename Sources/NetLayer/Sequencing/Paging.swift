import PortableFoundation
import Streams

/// A style in which an API links its pages.
public struct Paging: Sendable, Hashable {
  enum Kind: Hashable {
    /// The URL of the next page, in the `Link` field or at another place.
    case link(at: Place?)
    case cursor(at: Place, parameter: String)
    case number(parameter: String, from: Int, pages: String?, endsAt: [Int])
    case offset(parameter: String, from: Int)
  }

  /// The place of the URL or the cursor of the next page in a response.
  enum Place: Hashable {
    case body(String)
    case header(String)
  }

  let kind: Kind

  /// A text that differs for different styles.
  package var name: String { "\(kind)" }

  /// Follows the URL of the `Link` field with the relation `next` (RFC 8288), as GitHub's API does.
  ///
  /// A link from `https` to `http` fails with `redirect`, unless the backend's `RedirectPolicy` allows downgrades.
  public static let link = Paging(kind: .link(at: nil))
  /// Follows the URL at a path of the body, such as `next` or `links.next`, as Django REST Framework and OData send it.
  /// It may be relative. The last page has no such member, or `null`, or an empty text. Otherwise the same as `link`.
  public static func link(at path: String) -> Paging { Paging(kind: .link(at: .body(path))) }
  /// Follows the URL in a header field such as `Next-Page`, as Kinto sends it. It may be relative. Otherwise the same
  /// as `link`.
  public static func link(header name: String) -> Paging { Paging(kind: .link(at: .header(name))) }
  /// Sends the cursor at a path of the body, such as `meta.next`, as a query parameter.
  public static func cursor(at path: String = "cursor", parameter: String = "cursor") -> Paging {
    Paging(kind: .cursor(at: .body(path), parameter: parameter))
  }
  /// Sends the cursor in a header field such as `X-Next-Page` as a query parameter. The last page has no such field, or an
  /// empty one.
  public static func cursor(header name: String, parameter: String) -> Paging {
    Paging(kind: .cursor(at: .header(name), parameter: parameter))
  }
  /// Sends the number of the page, until a page is empty, or the last one according to `pages` or `statuses`.
  ///
  /// - Parameters:
  ///   - parameter: The name of the query parameter.
  ///   - first: The number of the first page.
  ///   - pages: The path of the number of pages in the body, such as `meta.last_page`, or the name of a header field with
  ///     it, such as `X-WP-TotalPages`. A response with neither is an error of kind `parse`.
  ///   - statuses: The statuses that end the list from the second page on, such as 400 or 404; empty by default.
  public static func number(
    parameter: String = "page", from first: Int = 1, pages: String? = nil, endsAt statuses: Set<Int> = []
  ) -> Paging {
    Paging(kind: .number(parameter: parameter, from: first, pages: pages, endsAt: statuses.sorted()))
  }
  /// Sends the number of items received so far, until a page is empty.
  public static func offset(parameter: String = "offset", from first: Int = 0) -> Paging {
    Paging(kind: .offset(parameter: parameter, from: first))
  }
}

extension Paging {
  /// Whether an empty page is the end.
  package var countsItems: Bool {
    switch kind {
    case .link, .cursor: false
    case .number, .offset: true
    }
  }
}

/// The pages of one call for one subscriber.
package final class PagedCall<Item: Decodable & Sendable>: Sendable {
  private let first: CallContent
  private let paging: Paging
  private let path: String?
  private struct State {
    var count = 0
    var hash: Int?
    var origin: Origin?
    /// Whether another origin has responded, so that it may have chosen all further links.
    var isForeign = false
    var url: String?
    /// Whether the last page came over TLS, so that its link must not lead to `http`.
    var refusesHTTP = false
  }

  /// Guards the state; pages arrive one at a time, on any thread.
  private let state: Locked<State>

  package init(_ first: CallContent, _ paging: Paging, _ path: String?) {
    (self.first, self.paging, self.path) = (first, paging, path)
    state = Locked(State())
  }

  /// Creates the continuation of `other`, which may be continued again if this one is cancelled.
  package init(_ other: PagedCall) {
    (first, paging, path) = (other.first, other.paging, other.path)
    state = Locked(other.state.withLock { $0 })
  }

  /// Returns the call for the page at `place`; `nil` for the first page.
  package func call(at place: String?) throws -> CallContent {
    var call: CallContent
    switch (paging.kind, place) {
    case (.link, let place?): call = try linked(place)
    case (.link, nil), (.cursor, nil): return first
    case (.cursor(_, let parameter), let cursor?): call = first.adding(query: [parameter: cursor])
    case (.number(let parameter, let start, _, _), let number):
      call = first.adding(query: [parameter: number ?? String(start)])
    case (.offset(let parameter, let start), let offset):
      call = first.adding(query: [parameter: offset ?? String(start)])
    }
    // Each page is a separate response.
    if let key = call.caching.key, let place { call.caching.key = "\(key) \(place)" }
    return call
  }

  /// Returns the call for a URL that the server has sent.
  private func linked(_ text: String) throws -> CallContent {
    // The first page has no place, so its own URL would look like a new one.
    let (last, count) = state.withLock { ($0.url, $0.count) }
    if text == last { throw NetworkError.repeated(text, after: count) }
    guard let url = URL(text: text) else {
      throw NetworkError(kind: .repeatedPage, reason: "the link to the next page is invalid: \(text.debugDescription)")
    }
    if url.scheme?.lowercased() == "http", state.withLock(\.refusesHTTP) {
      throw NetworkError(
        kind: .redirect,
        reason:
          "\(last ?? "") links to \(text), from https to http, which is not followed; request the http URL directly")
    }
    var call = CallContent(.get, url, headers: first.headers, caching: first.caching)
    (call.timeout, call.priority, call.context) = (first.timeout, first.priority, first.context)
    call.limits = first.limits
    call.httpVersion = first.httpVersion
    let (origin, isForeign) = state.withLock { ($0.origin, $0.isForeign) }
    if isForeign || Origin(url) != origin {
      // The fields of the call and the backend may be credentials, which must not be sent to another origin.
      call.headers = [:]
      call.isForeign = true
    }
    return call
  }

  /// Reads the page in `response`, with the place of the next one as its cursor.
  package func page(of response: Response, at place: String?) throws -> Page<Item> {
    if case .number(_, _, _, let statuses) = paging.kind, place != nil, statuses.contains(response.status) {
      return Page(items: [])
    }
    let json = try response.common()
    var page = try EnvelopeReader(json).page(of: Item.self, at: path)
    switch paging.kind {
    case .link(let place):
      // The origin of the first requested URL: neither a redirect nor a link makes another origin the backend's own.
      let requested = Origin(response.request.url)
      let refusesHTTP =
        response.url.scheme?.lowercased() == "https" && !response.request.options.redirects.allowsDowngrade
      state.withLock { state in
        state.refusesHTTP = refusesHTTP
        let origin = state.origin ?? requested
        state.origin = origin
        state.isForeign = state.isForeign || response.involvesAnotherOrigin(than: origin)
        state.url = response.request.url.absoluteString
        state.count += 1
      }
      page.cursor =
        if let place {
          try link(in: json, at: place, from: response)
        } else {
          response.links["next"]?.absoluteString
        }
    case .cursor(.body(let path), _): page.cursor = try json.cursor(at: path)
    case .cursor(.header(let name), _): page.cursor = response.headers[name].unlessEmpty
    case .number(_, let start, let pages, _):
      let number = place.flatMap(Int.init) ?? start
      let isLast = try pages.map { try self.isLast(number, of: $0, from: start, json, response) } ?? false
      page.cursor = isLast ? nil : try next(page, from: place, or: start, step: 1)
    case .offset(_, let start): page.cursor = try next(page, from: place, or: start, step: page.items.count)
    }
    return page
  }

  /// Returns whether `number` is that of the last page, by the number of pages in the body or in the fields.
  private func isLast(
    _ number: Int, of name: String, from start: Int, _ json: JSON, _ response: Response
  ) throws -> Bool {
    let member = json[name]
    let text = try member.exists ? member.cursor(named: name) : response.headers[name] ?? json.cursor(at: name)
    guard let count = text.flatMap({ Int($0) }), count >= 0 else {
      throw response.parseFailure(
        "the number of pages is expected at \(name.debugDescription) of the body or in a header field of this name, but is "
          + (text?.debugDescription ?? "missing") + "; check `pages` of .number")
    }
    return number - start >= count - 1
  }

  private func link(in json: JSON, at place: Paging.Place, from response: Response) throws -> String? {
    let text: String?
    switch place {
    case .header(let name): text = response.headers[name].unlessEmpty
    case .body(let path):
      let member = json[path]
      text = try member.exists ? member.cursor(named: path) : json.cursor(at: path)
    }
    guard let text else { return nil }
    guard let url = URL(reference: text, from: response.url) else {
      throw NetworkError(kind: .repeatedPage, reason: "the link to the next page is invalid: \(text.debugDescription)")
    }
    return url.absoluteString
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
        kind: .repeatedPage, message: NetworkError.Messages.localized.parse,
        reason:
          "the page at \(here) has the same items as the previous page; check the parameter names (\(paging.kind))")
      error.index = former.count
      throw error
    }
    return String(here + step)
  }
}

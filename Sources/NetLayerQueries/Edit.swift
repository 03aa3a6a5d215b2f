/// A change of a watched value, shown while a write is in flight and until the server's response contains it.
///
/// The change runs again for each snapshot, on the thread that emits it. It must be fast, depend on nothing else, and
/// accept any value: the item that it changes may have been removed meanwhile.
public struct Edit: Sendable {
  let content: CallContent
  let accept: String?
  /// The pages that the edit changes; `nil` for one response.
  let paging: PagedKey?
  /// A ``TypedChange`` of the endpoint's result.
  let change: any Sendable

  /// Creates an edit of the value of `endpoint`. Screens show it if they watch an endpoint of the same request and result.
  public init<E: Endpoint>(_ endpoint: E, _ change: @escaping @Sendable (inout E.Output) -> Void) {
    (content, accept, paging) = (CallContent(endpoint), endpoint.accept, nil)
    self.change = TypedChange(apply: change)
  }

  /// Creates an edit of the pages of `endpoint`. The parameters are those of
  /// ``NetLayer/Network/watchPages(_:of:at:by:loadingMoreOn:)``.
  public init<Item: Decodable & Sendable>(
    pagesOf endpoint: some Endpoint, of type: Item.Type = Item.self, at path: String? = nil,
    by paging: Paging = .link, _ change: @escaping @Sendable (inout [Page<Item>]) -> Void
  ) {
    (content, accept) = (CallContent(endpoint), "application/json")
    self.paging = PagedKey(Item.self, path, paging)
    self.change = TypedChange(apply: change)
  }
}

/// A change of values of one type.
struct TypedChange<Value>: Sendable {
  let apply: @Sendable (inout Value) -> Void
}

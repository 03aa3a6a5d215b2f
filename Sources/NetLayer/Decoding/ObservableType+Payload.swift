import Streams

extension ObservableType where Element == JSON {
  /// One model made of the payload.
  ///
  /// - Parameters:
  ///   - type: any `Decodable`; an optional one takes a payload that is null or absent as `nil`.
  ///   - callback: is called once with each model, just before it is delivered, on the same thread.
  /// - Returns: the model, on the backend's `delivery` scheduler. A payload that is absent or not as the model needs it is
  ///   an error of kind `parse` with its coding path, `data.items.0.name` for example.
  @inlinable
  public func data<Model: Decodable & Sendable>(
    _ type: Model.Type = Model.self, callback: (@Sendable (Model) -> Void)? = nil
  ) -> Observable<Model> {
    delivering { try $0.payload(type) }.calling(callback)
  }

  /// The payload, an array, as a page with the cursor of the next one.
  ///
  /// - Parameters:
  ///   - type: the items' type.
  ///   - path: where the array stands in the payload, such as `items`; without it, the payload is the array.
  ///   - callback: is called once with each item, in order, when all have been accepted.
  /// - Returns: the page, on the backend's `delivery` scheduler. A cursor may be a string or a number; null, an empty
  ///   string or none means that this is the last page.
  @inlinable
  public func list<Item: Decodable & Sendable>(
    _ type: Item.Type = Item.self, at path: String? = nil, callback: (@Sendable (Item) -> Void)? = nil
  ) -> Observable<Page<Item>> {
    let pages = delivering { try $0.page(of: type, at: path) }
    guard let callback else { return pages }
    return pages.do(onNext: { page in
      for item in page.items { callback(item) }
    })
  }

  /// The payload as a page of those items that can be decoded: one bad item does not cost the list.
  ///
  /// - Parameters:
  ///   - type: the items' type.
  ///   - path: where the array stands in the payload, such as `items`; without it, the payload is the array.
  ///   - onBadItem: gets the index and the parse error of each item that is left out, in order, before the page is
  ///     delivered, on the `mapping` scheduler.
  public func list<Item: Decodable & Sendable>(
    _ type: Item.Type = Item.self, at path: String? = nil,
    onBadItem: @escaping @Sendable (_ index: Int, _ error: NetworkError) -> Void
  ) -> Observable<Page<Item>> {
    delivering { try $0.page(of: type, at: path, lossy: onBadItem) }
  }

  /// Whether the server said yes.
  ///
  /// `false`, 0 and their texts say no. `true`, other numbers, objects, arrays, and no payload at all (absent, null or an
  /// empty string) say yes, as the envelope's code was a success. Any other text is an error of kind `parse`. Without an
  /// envelope, a status of success says yes, unless the body is `false`.
  ///
  /// - Parameter callback: is called once with the answer, just before it is delivered.
  public func bool(callback: (@Sendable (Bool) -> Void)? = nil) -> Observable<Bool> {
    delivering { try $0.flag() }.calling(callback)
  }
}

extension Observable {
  @inlinable
  func calling(_ callback: (@Sendable (Element) -> Void)?) -> Observable<Element> {
    guard let callback else { return self }
    return self.do(onNext: callback)
  }
}

import Streams

extension ObservableType where Element == JSON {
  /// Decodes a model from the payload.
  ///
  /// - Parameters:
  ///   - type: Any `Decodable`. An optional type decodes a null or absent payload as `nil`.
  ///   - callback: A closure that is called once with each model, immediately before its delivery, on the same thread.
  /// - Returns: The model, on the backend's `delivery` scheduler. An absent payload, or one that the model can't
  ///   decode, is an error of kind `parse` with its coding path, such as `data.items.0.name`.
  @inlinable
  public func data<Model: Decodable & Sendable>(
    _ type: Model.Type = Model.self, callback: (@Sendable (Model) -> Void)? = nil
  ) -> Observable<Model> {
    delivering { try EnvelopeReader($0).payload(type) }.calling(callback)
  }

  /// Decodes the payload, an array, as a page with the cursor of the next one.
  ///
  /// - Parameters:
  ///   - type: The type of the items.
  ///   - path: The path of the array in the payload, such as `items`; `nil` if the payload is the array.
  ///   - callback: A closure that is called once with each item, in order, after all have been accepted.
  /// - Returns: The page, on the backend's `delivery` scheduler. A cursor may be a string or a number; null, an empty
  ///   string or no cursor means that this is the last page.
  @inlinable
  public func list<Item: Decodable & Sendable>(
    _ type: Item.Type = Item.self, at path: String? = nil, callback: (@Sendable (Item) -> Void)? = nil
  ) -> Observable<Page<Item>> {
    let pages = delivering { try EnvelopeReader($0).page(of: type, at: path) }
    guard let callback else { return pages }
    return pages.do(onNext: { page in
      for item in page.items { callback(item) }
    })
  }

  /// Decodes the payload as a page of those items that can be decoded, so that one invalid item does not fail the list.
  ///
  /// `onInvalidElement` receives the index and the parse error of each omitted item, in order, before the page is
  /// delivered, on the `mapping` scheduler.
  public func list<Item: Decodable & Sendable>(
    _ type: Item.Type = Item.self, at path: String? = nil,
    onInvalidElement: @escaping @Sendable (_ index: Int, _ error: NetworkError) -> Void
  ) -> Observable<Page<Item>> {
    delivering { try EnvelopeReader($0).page(of: type, at: path, lossy: onInvalidElement) }
  }

  /// Decodes the payload as a Boolean.
  ///
  /// `false` and 0, also as strings, are `false`. `true`, other numbers, objects and arrays are `true`. A missing payload
  /// (absent, null or an empty string) is `true`, because the envelope's code was a success. Any other text is an error
  /// of kind `parse`. Without an envelope, the result of a success status is `true`, unless the body is `false`.
  ///
  /// - Parameter callback: A closure that is called once with the result, immediately before its delivery.
  public func bool(callback: (@Sendable (Bool) -> Void)? = nil) -> Observable<Bool> {
    delivering { try EnvelopeReader($0).bool() }.calling(callback)
  }
}

extension Observable {
  @inlinable
  func calling(_ callback: (@Sendable (Element) -> Void)?) -> Observable<Element> {
    guard let callback else { return self }
    return self.do(onNext: callback)
  }
}

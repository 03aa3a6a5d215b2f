extension ObservableType {
  // Disfavored, so that a closure that returns a stream without `await` never becomes asynchronous.

  /// Emits the result of `transform` for the latest element. The next element cancels the task in which `transform` runs
  /// (contract, law 14).
  ///
  /// ```swift
  /// let results = query.flatMapLatest { try await api.search($0) }
  /// ```
  @_disfavoredOverload
  public func flatMapLatest<Result: Sendable>(
    _ transform: @escaping @Sendable (Element) async throws -> Result
  ) -> Observable<Result> {
    flatMapLatest { element in Single.from { try await transform(element) } }
  }

  /// Emits the results of `transform` for all elements, in order of arrival. Disposing cancels the tasks in which
  /// `transform` runs.
  @_disfavoredOverload
  public func flatMap<Result: Sendable>(
    _ transform: @escaping @Sendable (Element) async throws -> Result
  ) -> Observable<Result> {
    flatMap { element in Single.from { try await transform(element) } }
  }

  /// Emits the result of `transform` for an element, and drops the elements that arrive until then. Disposing cancels
  /// the task in which `transform` runs.
  @_disfavoredOverload
  public func flatMapFirst<Result: Sendable>(
    _ transform: @escaping @Sendable (Element) async throws -> Result
  ) -> Observable<Result> {
    flatMapFirst { element in Single.from { try await transform(element) } }
  }

  /// Emits the results of `transform` for all elements, one after another, in the order of the elements. Disposing
  /// cancels the task in which `transform` runs.
  @_disfavoredOverload
  public func concatMap<Result: Sendable>(
    _ transform: @escaping @Sendable (Element) async throws -> Result
  ) -> Observable<Result> {
    concatMap { element in Single.from { try await transform(element) } }
  }
}

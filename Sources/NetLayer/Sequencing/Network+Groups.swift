import Streams

extension Network {
  /// Calls all `endpoints` and gives all results, in the order of the endpoints, when all have succeeded (article rows
  /// 0.15, 1.12).
  ///
  /// - Parameters:
  ///   - endpoints: what to call; none gives an empty array.
  ///   - maxConcurrent: how many are in flight at a time. All by default: the transport limits connections itself.
  ///   - progress: hears of every call.
  /// - Returns: a single that fails with the first error, whose `index` says which call it was, and gives the others up.
  public func zip<E: TypedEndpoint>(
    _ endpoints: [E], maxConcurrent: Int = .max, progress: ProgressHandler? = nil
  ) -> Single<[E.Response]> {
    Observable.from(Array(endpoints.enumerated()))
      .map { item in
        self.numbered(item, progress).map { (item.offset, $0) }
      }
      .merge(maxConcurrent: maxConcurrent)
      .toArray()
      .map { results in results.sorted { $0.0 < $1.0 }.map(\.1) }
  }

  /// Calls all `endpoints` and emits each result as it comes, in whatever order.
  ///
  /// Fails with the first error, whose `index` says which call it was, and gives the others up. Parameters as in `zip`.
  public func merge<E: TypedEndpoint>(
    _ endpoints: [E], maxConcurrent: Int = .max, progress: ProgressHandler? = nil
  ) -> Observable<E.Response> {
    Observable.from(Array(endpoints.enumerated()))
      .map { self.numbered($0, progress) }
      .merge(maxConcurrent: maxConcurrent)
  }

  /// The result of one of several calls; its error says which it was.
  private func numbered<E: TypedEndpoint>(
    _ item: (offset: Int, element: E), _ progress: ProgressHandler?
  ) -> Observable<E.Response> {
    request(item.element, progress: progress).asObservable().mapError { error in
      var error = NetworkError.wrapping(error)
      error.index = item.offset
      return error
    }
  }

  /// `zip` of endpoints that do not say what their answers are: models of the whole bodies.
  @_disfavoredOverload
  public func zip<E: Endpoint, Model: Decodable & Sendable>(
    _ endpoints: [E], as type: Model.Type = Model.self, maxConcurrent: Int = .max, progress: ProgressHandler? = nil
  ) -> Single<[Model]> {
    zip(endpoints.map { $0.as(type) as TypedCall<Model> }, maxConcurrent: maxConcurrent, progress: progress)
  }

  /// `zip` of endpoints that do not say what their answers are: text, bytes, JSON and the like.
  public func zip<E: Endpoint, Result: ResponseReadable>(
    _ endpoints: [E], as type: Result.Type = Result.self, maxConcurrent: Int = .max, progress: ProgressHandler? = nil
  ) -> Single<[Result]> {
    zip(endpoints.map { $0.as(type) as TypedCall<Result> }, maxConcurrent: maxConcurrent, progress: progress)
  }

  /// `merge` of endpoints that do not say what their answers are: models of the whole bodies.
  @_disfavoredOverload
  public func merge<E: Endpoint, Model: Decodable & Sendable>(
    _ endpoints: [E], as type: Model.Type = Model.self, maxConcurrent: Int = .max, progress: ProgressHandler? = nil
  ) -> Observable<Model> {
    merge(endpoints.map { $0.as(type) as TypedCall<Model> }, maxConcurrent: maxConcurrent, progress: progress)
  }

  /// `merge` of endpoints that do not say what their answers are: text, bytes, JSON and the like.
  public func merge<E: Endpoint, Result: ResponseReadable>(
    _ endpoints: [E], as type: Result.Type = Result.self, maxConcurrent: Int = .max, progress: ProgressHandler? = nil
  ) -> Observable<Result> {
    merge(endpoints.map { $0.as(type) as TypedCall<Result> }, maxConcurrent: maxConcurrent, progress: progress)
  }
}

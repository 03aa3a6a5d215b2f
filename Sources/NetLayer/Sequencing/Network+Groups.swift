import Streams

extension Network {
  /// Calls all `endpoints` and emits all results, in the order of the endpoints, when all have succeeded.
  ///
  /// `maxConcurrent` is the maximum number of requests in flight; no limit by default.
  ///
  /// - Returns: A single that fails with the first error, whose `index` is the position of its call, and cancels the
  ///   other calls.
  public func zip<E: Endpoint>(
    _ endpoints: [E], maxConcurrent: Int = .max, progress: ProgressHandler? = nil
  ) -> Single<[E.Output]> {
    Observable.from(Array(endpoints.enumerated()))
      .map { item in
        self.numbered(item, progress).map { (item.offset, $0) }
      }
      .merge(maxConcurrent: maxConcurrent)
      .toArray()
      .map { results in results.sorted { $0.0 < $1.0 }.map(\.1) }
  }

  /// Calls all `endpoints` and emits each result as soon as it arrives, in any order.
  ///
  /// Fails with the first error, whose `index` is the position of its call, and cancels the other calls. The parameters
  /// are the same as in `zip`.
  public func merge<E: Endpoint>(
    _ endpoints: [E], maxConcurrent: Int = .max, progress: ProgressHandler? = nil
  ) -> Observable<E.Output> {
    Observable.from(Array(endpoints.enumerated()))
      .map { self.numbered($0, progress) }
      .merge(maxConcurrent: maxConcurrent)
  }

  private func numbered<E: Endpoint>(
    _ item: (offset: Int, element: E), _ progress: ProgressHandler?
  ) -> Observable<E.Output> {
    request(item.element, progress: progress).asObservable().mapError { error in
      var error = NetworkError.wrapping(error)
      error.index = item.offset
      return error
    }
  }

  /// Calls endpoints without a result type, like `zip`, and decodes models from the whole bodies.
  @_disfavoredOverload
  public func zip<E: Endpoint, Model: Decodable & Sendable>(
    _ endpoints: [E], as type: Model.Type = Model.self, maxConcurrent: Int = .max, progress: ProgressHandler? = nil
  ) -> Single<[Model]> {
    zip(endpoints.map { $0.as(type) as Call<Model> }, maxConcurrent: maxConcurrent, progress: progress)
  }

  /// Calls endpoints without a result type, like `zip`, for text, bytes, JSON or other readable results.
  public func zip<E: Endpoint, Result: ResponseReadable>(
    _ endpoints: [E], as type: Result.Type = Result.self, maxConcurrent: Int = .max, progress: ProgressHandler? = nil
  ) -> Single<[Result]> {
    zip(endpoints.map { $0.as(type) as Call<Result> }, maxConcurrent: maxConcurrent, progress: progress)
  }

  /// Calls endpoints without a result type, like `merge`, and decodes models from the whole bodies.
  @_disfavoredOverload
  public func merge<E: Endpoint, Model: Decodable & Sendable>(
    _ endpoints: [E], as type: Model.Type = Model.self, maxConcurrent: Int = .max, progress: ProgressHandler? = nil
  ) -> Observable<Model> {
    merge(endpoints.map { $0.as(type) as Call<Model> }, maxConcurrent: maxConcurrent, progress: progress)
  }

  /// Calls endpoints without a result type, like `merge`, for text, bytes, JSON or other readable results.
  public func merge<E: Endpoint, Result: ResponseReadable>(
    _ endpoints: [E], as type: Result.Type = Result.self, maxConcurrent: Int = .max, progress: ProgressHandler? = nil
  ) -> Observable<Result> {
    merge(endpoints.map { $0.as(type) as Call<Result> }, maxConcurrent: maxConcurrent, progress: progress)
  }
}

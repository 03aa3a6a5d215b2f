extension Result where Success: Sendable {
  /// Returns a single that emits this result.
  public func asSingle() -> Single<Success> {
    switch self {
    case .success(let element): .just(element)
    case .failure(let error): .error(error)
    }
  }
}

extension Single {
  /// Returns a single that emits the success or the failure as an element and never fails.
  public func asResult() -> Single<Result<Element, any Error>> {
    map { .success($0) }.catchError { .just(.failure($0)) }
  }
}

extension Result where Success: Sendable {
  /// A single of this result.
  public func asSingle() -> Single<Success> {
    switch self {
    case .success(let element): .just(element)
    case .failure(let error): .error(error)
    }
  }
}

extension Single {
  /// The success or the failure as an element, so that an error does not end the stream.
  public func asResult() -> Single<Result<Element, any Error>> {
    map { .success($0) }.catchError { .just(.failure($0)) }
  }
}

import Streams

/// What knows the rules of the back end it came from.
protocol Ruled: Sendable {
  var rules: Rules? { get }
}

extension Response: Ruled {}
extension NetworkError: Ruled {}

extension JSON: Ruled {
  var rules: Rules? { origin?.rules }
}

extension ObservableType where Element: Ruled {
  /// Maps each element where it was emitted, then delivers the result on the scheduler that the element's back end asks
  /// for; errors, too.
  ///
  /// The scheduler is known only when an element or error arrives, as it travels with them; without one there is no hop.
  func delivering<Result: Sendable>(
    _ transform: @escaping @Sendable (Element) throws -> Result
  ) -> Observable<Result> {
    catchError { error in
      // Of the source only: what transform throws is below, and delivered there.
      guard let delivery = (error as? NetworkError)?.rules?.delivery else { throw error }
      return Observable.error(error).observeOn(delivery)
    }
    .concatMap { element in
      guard let delivery = element.rules?.delivery else { return Observable<Result>.just(try transform(element)) }
      let result: Observable<Result>
      do {
        result = .just(try transform(element))
      } catch {
        result = .error(error)
      }
      return result.observeOn(delivery)
    }
  }
}

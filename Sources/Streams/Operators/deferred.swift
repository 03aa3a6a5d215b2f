extension Observable {
  /// Asks `factory` for a stream at each subscription; what it throws becomes the error (law 7).
  public static func deferred(_ factory: @escaping @Sendable () throws -> Observable<Element>) -> Observable<Element> {
    Observable(push: { subscription, next in
      do { try factory().run(subscription, next) } catch { subscription.fail(error) }
    })
  }
}

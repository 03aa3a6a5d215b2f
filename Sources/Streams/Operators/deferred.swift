extension Observable {
  /// Creates a stream by calling `factory` for each subscription; an error that it throws fails the stream (contract,
  /// law 7).
  @inlinable
  public static func deferred(_ factory: @escaping @Sendable () throws -> Observable<Element>) -> Observable<Element> {
    Observable(push: { subscription, next in
      do { try factory().run(subscription, next) } catch { subscription.fail(error) }
    })
  }
}

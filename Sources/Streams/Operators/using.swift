extension Observable {
  /// Creates a resource for each subscription, emits the stream that uses it, and disposes the resource after the
  /// terminal event or the disposal.
  ///
  /// An error thrown by either factory fails the stream (contract, law 7).
  public static func using<Resource: Disposable>(
    _ resourceFactory: @escaping @Sendable () throws -> Resource,
    observableFactory: @escaping @Sendable (Resource) throws -> Observable<Element>
  ) -> Observable<Element> {
    Observable(push: { subscription, next in
      do {
        let resource = try resourceFactory()
        // The stream is owned, and therefore disposed, before the resource, because it may use the resource until it
        // ends.
        let scope = Scope(subscription)
        subscription.own(resource)
        try observableFactory(resource).run(scope) { subscription.deliver($0, to: next) }
      } catch {
        subscription.fail(error)
      }
    })
  }
}

extension Observable {
  /// Makes a resource for each subscription, streams from it, and disposes it after the end or the disposal.
  ///
  /// What either factory throws becomes the stream's error (law 7).
  public static func using<Resource: Disposable>(
    _ resourceFactory: @escaping @Sendable () throws -> Resource,
    observableFactory: @escaping @Sendable (Resource) throws -> Observable<Element>
  ) -> Observable<Element> {
    Observable(push: { subscription, next in
      do {
        let resource = try resourceFactory()
        // Owned before the resource, so given up before it: the stream may use it until its own end.
        let scope = Scope(subscription)
        subscription.own(resource)
        try observableFactory(resource).run(scope) { subscription.deliver($0, to: next) }
      } catch {
        subscription.fail(error)
      }
    })
  }
}

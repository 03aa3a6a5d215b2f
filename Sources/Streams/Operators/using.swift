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
        subscription.own(resource)
        try observableFactory(resource).run(subscription, next)
      } catch {
        subscription.fail(error)
      }
    })
  }
}

/// A shared stream whose source is subscribed when `connect()` is called, however many observe it.
public final class ConnectableObservable<Element: Sendable>: ObservableType {
  let sharing: Sharing<Element>

  init(_ sharing: Sharing<Element>) { self.sharing = sharing }

  /// Subscribes the source, unless it is subscribed already.
  ///
  /// Through a subject that outlives the connections, a connection lasts until the subject has delivered its end: a call
  /// from inside that end returns the connection that is ending (RxSwift makes a new one, which the ended subject ignores).
  ///
  /// - Returns: the connection; disposing it gives the source up, and a later `connect()` starts it anew.
  public func connect() -> any Disposable {
    let (connection, isNew) = sharing.connect(counting: false)
    if isNew { sharing.start(connection) }
    return Disposables.create { [sharing] in sharing.disconnect(connection) }
  }

  /// The shared stream; subscribing it does not connect.
  public func asObservable() -> Observable<Element> {
    Observable(push: { [sharing] subscription, next in sharing.hub().run(subscription, next) })
  }
}

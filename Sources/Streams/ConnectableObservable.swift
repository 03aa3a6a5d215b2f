/// A shared stream that subscribes to its source when `connect()` is called, regardless of the number of observers.
public final class ConnectableObservable<Element: Sendable>: ObservableType {
  let sharing: Sharing<Element>

  init(_ sharing: Sharing<Element>) { self.sharing = sharing }

  /// Subscribes to the source, unless it is already connected.
  ///
  /// After the source has ended, it subscribes again, with an empty buffer, for the observers that have subscribed since. To
  /// deliver the elements and the end to later observers, use `share(replay:scope:)` with `forever`.
  ///
  /// If the subject outlives the connections, a connection lasts until the subject has delivered its terminal event. A
  /// call made during that delivery returns the connection that is ending. (RxSwift creates a new connection, which the
  /// terminated subject ignores.)
  ///
  /// - Returns: The connection. Disposing it disposes the subscription to the source; a later `connect()` subscribes
  ///   again.
  public func connect() -> any Disposable {
    let (connection, isNew) = sharing.connect(counting: false)
    if isNew { sharing.start(connection) }
    return Disposables.create { [sharing] in sharing.disconnect(connection) }
  }

  /// Returns the shared stream; subscribing to it does not connect.
  public func asObservable() -> Observable<Element> {
    Observable(push: { [sharing] subscription, next in sharing.hub().run(subscription, next) })
  }
}

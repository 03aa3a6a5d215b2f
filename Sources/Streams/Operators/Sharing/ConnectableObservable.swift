extension ObservableType {
  /// Shares one subscription to the source, made by `connect()`, through a `PublishSubject`.
  public func publish() -> ConnectableObservable<Element> {
    ConnectableObservable(Multicast(asObservable()) { .publish(PublishSubject()) })
  }

  /// Shares one subscription to the source, made by `connect()`; those who come later get the last `bufferSize` elements
  /// first.
  public func replay(_ bufferSize: Int) -> ConnectableObservable<Element> {
    multicast { ReplaySubject<Element>.create(bufferSize: bufferSize) }
  }

  /// Shares one subscription to the source, made by `connect()`; those who come later get all elements so far first.
  public func replayAll() -> ConnectableObservable<Element> {
    multicast { ReplaySubject<Element>.createUnbounded() }
  }

  /// Shares one subscription to the source, made by `connect()`, through `subject`, which outlives the connections.
  public func multicast<Subject: SubjectType>(_ subject: Subject) -> ConnectableObservable<Element>
  where Subject.Element == Element {
    ConnectableObservable(Multicast(asObservable(), keepsHub: true) { .other(subject) })
  }

  /// Shares one subscription to the source, made by `connect()`, through a subject that `makeSubject` makes for each.
  public func multicast<Subject: SubjectType>(
    makeSubject: @escaping @Sendable () -> Subject
  ) -> ConnectableObservable<Element> where Subject.Element == Element {
    ConnectableObservable(Multicast(asObservable()) { .other(makeSubject()) })
  }
}

/// A shared stream whose source is subscribed when `connect()` is called, however many observe it.
public final class ConnectableObservable<Element: Sendable>: ObservableType {
  private let multicast: Multicast<Element>

  init(_ multicast: Multicast<Element>) { self.multicast = multicast }

  /// Subscribes the source, unless it is subscribed already.
  ///
  /// Through a subject that outlives the connections, a connection lasts until the subject has delivered its end: a call
  /// from inside that end returns the connection that is ending (RxSwift makes a new one, which the ended subject ignores).
  ///
  /// - Returns: the connection; disposing it gives the source up, and a later `connect()` starts it anew.
  public func connect() -> any Disposable {
    let (connection, isNew) = multicast.connect(counting: false)
    if isNew { multicast.start(connection) }
    return Disposables.create { [multicast] in multicast.disconnect(connection) }
  }

  /// Connects with the first observer and disconnects with the last (law 24).
  public func refCount() -> Observable<Element> { multicast.refCounted() }

  /// The shared stream; subscribing it does not connect.
  public func asObservable() -> Observable<Element> {
    Observable(push: { [multicast] subscription, next in multicast.hub().run(subscription, next) })
  }
}

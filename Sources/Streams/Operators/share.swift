import Synchronization

extension ObservableType {
  /// One subscription to the source for all observers: made for the first, released when the last has left (law 24).
  ///
  /// After the source has ended, or everybody has left, the next observer starts it anew.
  @inlinable
  public func share() -> Observable<Element> {
    let source = asObservable()
    let sharing = Sharing<Element>()
    return Observable(push: { subscription, next in
      let (connection, isFirst) = sharing.join()
      connection.subject.add(.init(subscription: subscription, next: next))
      subscription.own(Disposables.create { sharing.leave(connection) })
      if isFirst {
        source.run(connection.scope) { connection.subject.onNext($0) }
      }
    })
  }
}

/// Who shares a stream, and the connection they share; each connection is an object, so that a finished one is never
/// mistaken for the next.
@usableFromInline
final class Sharing<Element: Sendable>: Sendable {
  @usableFromInline
  final class Connection: Sendable {
    @usableFromInline let subject = PublishSubject<Element>()
    @usableFromInline let scope: Subscription

    init(_ scope: (PublishSubject<Element>) -> Subscription) { self.scope = scope(subject) }
  }

  private struct State {
    var connection: Connection?
    var observers = 0
  }

  private let state = Locked(State())

  @usableFromInline init() {}

  @usableFromInline
  func join() -> (Connection, isFirst: Bool) {
    state.withLock { state in
      if let connection = state.connection {
        state.observers += 1
        return (connection, false)
      }
      let connection = Connection { subject in
        HandlerScope { [weak self] error in
          self?.forget(subject)
          subject.finish(error)
        }
      }
      state.connection = connection
      state.observers = 1
      return (connection, true)
    }
  }

  /// One observer has left `connection`; the last one disposes it.
  @usableFromInline
  func leave(_ connection: Connection) {
    let isLast = state.withLock { state in
      guard state.connection === connection else { return false }
      state.observers -= 1
      guard state.observers == 0 else { return false }
      state.connection = nil
      return true
    }
    if isLast { connection.scope.dispose() }
  }

  private func forget(_ subject: PublishSubject<Element>) {
    state.withLock { state in
      if state.connection?.subject === subject { state.connection = nil }
    }
  }
}

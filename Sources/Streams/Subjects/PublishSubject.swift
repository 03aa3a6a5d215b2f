/// A stream fed by hand: each observer gets what is sent after it has subscribed.
///
/// May be fed from several threads at once and re-entrantly: events are delivered one at a time, in the order of
/// arrival, to those subscribed when each is delivered (laws 2 and 3). After its end, observers get that end (law 26).
///
/// No sender waits for another: an event sent while a thread is delivering is delivered by that thread, and the call that
/// sent it returns immediately. Conversely, a call that delivers also delivers what other threads send meanwhile, and
/// returns when nothing is left. From the main thread, do not send into a subject that a busy thread feeds: the call lasts
/// as long as that thread keeps sending faster than the observers take. Give each producer a subject of its own, and
/// `merge` them after an `observeOn`, which lets go of the sender as soon as its event is queued.
public final class PublishSubject<Element: Sendable>: SubjectType {
  @usableFromInline
  final class Observer: Sendable {
    @usableFromInline let subscription: Subscription
    @usableFromInline let next: Observable<Element>.Next

    @inlinable
    init(subscription: Subscription, next: @escaping Observable<Element>.Next) {
      self.subscription = subscription
      self.next = next
    }

    @inlinable
    func send(_ element: Element) {
      subscription.deliverIfActive(element, to: next)
    }
  }

  // Serializes the events, the end included.
  @usableFromInline let drain = Drain()
  // Guards who is subscribed; the senders take a copy and call outside.
  @usableFromInline let roster = Locked(Roster<Observer>())

  /// A subject without observers.
  public init() {}

  /// Whether anybody is subscribed.
  public var hasObservers: Bool { roster.withLock { !$0.members.isEmpty } }

  /// Takes one event.
  @inlinable
  public func on(_ event: Event<Element>) {
    switch event {
    case .next(let element): onNext(element)
    case .error(let error): finish(error)
    case .completed: finish(nil)
    }
  }

  /// Sends `element` to all observers.
  @inlinable
  public func onNext(_ element: Element) {
    drain.run(self, element) { $0.send($1) }
  }

  @inlinable
  func send(_ element: Element) {
    let observers = roster.withLock { $0.members }
    // The snapshot keeps the observers alive, so that no call needs to retain one: half of the cost of an event.
    withExtendedLifetime(observers) {
      observers.withUnsafeBufferPointer { observers in
        for index in observers.indices {
          Unmanaged.passUnretained(observers[index].value)._withUnsafeGuaranteedRef { $0.send(element) }
        }
      }
    }
  }

  @usableFromInline
  func finish(_ error: (any Error)?) {
    drain.run { [self] in
      let observers = roster.withLock { $0.end(error) }
      for observer in observers { observer.value.subscription.finish(error) }
    }
  }

  /// The subject as a stream that cannot be fed.
  @inlinable
  public func asObservable() -> Observable<Element> {
    Observable(push: { [self] subscription, next in
      add(Observer(subscription: subscription, next: next))
    })
  }

  @usableFromInline
  func add(_ observer: Observer) {
    switch roster.withLock({ $0.join(observer) }) {
    case .ended(let error): observer.subscription.finish(error)
    case .joined(let id):
      observer.subscription.own(Departure(self, id))
    }
  }

  /// Takes an observer off the roster. Weak: a subject that goes away releases its observers, whether they were disposed
  /// or not.
  private final class Departure: Disposable, @unchecked Sendable {  // safe: a weak reference is read atomically
    private weak var subject: PublishSubject<Element>?
    private let id: UInt64

    init(_ subject: PublishSubject<Element>, _ id: UInt64) {
      self.subject = subject
      self.id = id
    }

    func dispose() {
      let left = subject?.roster.withLock { $0.leave(id) }
      withExtendedLifetime(left) {}  // released outside the lock
    }
  }
}

/// Who is subscribed to a subject, and how it ended; an array copied on write, so a snapshot costs one reference.
@usableFromInline
struct Roster<Member> {
  @usableFromInline
  enum Joined {
    case joined(UInt64)
    case ended((any Error)?)
  }

  // In ascending order of their ids, so that one is found by bisection.
  @usableFromInline var members: [(id: UInt64, value: Member)] = []
  @usableFromInline var nextID: UInt64 = 0
  @usableFromInline var ended: (any Error)??

  @usableFromInline init() {}

  mutating func join(_ member: Member) -> Joined {
    if let ended { return .ended(ended) }
    nextID += 1
    members.append((nextID, member))
    return .joined(nextID)
  }

  mutating func leave(_ id: UInt64) -> Member? {
    var low = 0
    var high = members.count
    while low < high {
      let middle = (low + high) / 2
      if members[middle].id < id { low = middle + 1 } else { high = middle }
    }
    guard low < members.count, members[low].id == id else { return nil }
    return members.remove(at: low).value
  }

  /// Notes the first end and returns those who must hear of it.
  @usableFromInline
  mutating func end(_ error: (any Error)?) -> [(id: UInt64, value: Member)] {
    guard ended == nil else { return [] }
    ended = .some(error)
    let told = members
    members = []
    return told
  }
}

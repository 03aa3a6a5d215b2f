/// The subject that a shared stream goes through.
@usableFromInline
enum Hub<Element: Sendable>: Sendable {
  // The common one, called without a witness table.
  case publish(PublishSubject<Element>)
  case other(any SubjectType<Element>)

  @inlinable
  func onNext(_ element: Element) {
    switch self {
    case .publish(let subject): subject.onNext(element)
    case .other(let subject): subject.on(.next(element))
    }
  }

  func finish(_ error: (any Error)?) {
    switch self {
    case .publish(let subject): subject.finish(error)
    case .other(let subject): subject.on(error.map { .error($0) } ?? .completed)
    }
  }

  @inlinable
  func run(_ subscription: Subscription, _ next: @escaping Observable<Element>.Next) {
    switch self {
    case .publish(let subject): subject.add(.init(subscription: subscription, next: next))
    case .other(let subject): subject.asObservable().run(subscription, next)
    }
  }
}

/// The subject that a shared stream goes through.
@usableFromInline
struct Hub<Element: Sendable>: Sendable {
  // The common one, called without a witness table.
  @usableFromInline let core: SubjectCore<Element>?
  @usableFromInline let other: (any SubjectType<Element>)?

  @usableFromInline
  init(_ core: SubjectCore<Element>) {
    self.core = core
    other = nil
  }

  init(_ other: any SubjectType<Element>) {
    core = nil
    self.other = other
  }

  @inlinable
  func onNext(_ element: Element) {
    // Unretained: whoever calls this holds the hub.
    if let core = core.map({ Unmanaged.passUnretained($0) }) {
      core._withUnsafeGuaranteedRef { $0.onNext(element) }
    } else {
      other?.onNext(element)
    }
  }

  func finish(_ error: (any Error)?) {
    core?.finish(error)
    other?.on(error.map { .error($0) } ?? .completed)
  }

  @inlinable
  func run(_ subscription: Subscription, _ next: @escaping Observable<Element>.Next) {
    core?.add(subscription, next)
    other?.asObservable().run(subscription, next)
  }
}

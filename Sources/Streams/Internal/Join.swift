/// What waits for several sources at once: the machinery of `zip` and `combineLatest`.
///
/// Each source has a slot; its events enter one drain, inside which the slots change and the result goes downstream.
@usableFromInline
class Join: @unchecked Sendable {  // safe: subclasses' state is touched only inside the drain
  @usableFromInline final let downstream: Subscription
  @usableFromInline final let drain = Drain()

  @usableFromInline
  init(_ downstream: Subscription) { self.downstream = downstream }

  /// Something has arrived in a slot.
  func advance() {}

  /// Whether nothing more can come out, now that a source has completed.
  var isExhausted: Bool { false }

  final func attach<Element: Sendable>(
    _ source: Observable<Element>, put: @escaping @Sendable (Element) -> Void, close: @escaping @Sendable () -> Void
  ) {
    let scope = HandlerScope(downstream) { [self] error in
      drain.run { [self] in
        if let error { return downstream.fail(error) }
        close()
        if isExhausted { downstream.complete() }
      }
    }
    source.run(scope) { [self] element in
      guard !downstream.isStopped else { return }
      if drain.tryEnter() {
        receive(element, put)
        drain.exit()
      } else {
        drain.enqueue { [self] in receive(element, put) }
      }
    }
  }

  private final func receive<Element: Sendable>(_ element: Element, _ put: @Sendable (Element) -> Void) {
    guard !downstream.isStopped else { return }
    put(element)
    advance()
  }
}

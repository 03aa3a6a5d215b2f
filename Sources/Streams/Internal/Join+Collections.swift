/// `zip` of sources of one type.
final class ZipAllJoin<Element: Sendable>: JoinOf<[Element]>, @unchecked Sendable {
  // Safe: the slots are touched only inside the drain.
  private let slots: [ZipSlot<Element>]
  // How many slots have something queued, so that an element costs the same however many sources there are.
  private var ready = 0

  init(_ downstream: Subscription, _ next: @escaping Observable<[Element]>.Next, count: Int) {
    slots = (0..<count).map { _ in ZipSlot() }
    super.init(downstream, next)
  }

  func start(_ sources: [Observable<Element>]) {
    for (source, slot) in zip(sources, slots) {
      attach(
        source,
        put: { [self] element in
          if !slot.isReady { ready += 1 }
          slot.queue.append(element)
        }, close: { slot.closed = true })
    }
  }

  override func advance() {
    guard ready == slots.count else { return }
    let elements = slots.compactMap { $0.queue.popFirst() }
    ready = slots.count { $0.isReady }
    emit(elements)
    if isExhausted { downstream.complete() }
  }

  override var isExhausted: Bool { slots.contains { $0.isExhausted } }
}

/// `combineLatest` of sources of one type.
final class LatestAllJoin<Element: Sendable>: JoinOf<[Element]>, @unchecked Sendable {
  // Safe: the slots are touched only inside the drain.
  private let slots: [LatestSlot<Element>]
  // How many slots have nothing yet.
  private var missing: Int

  init(_ downstream: Subscription, _ next: @escaping Observable<[Element]>.Next, count: Int) {
    slots = (0..<count).map { _ in LatestSlot() }
    missing = count
    super.init(downstream, next)
  }

  func start(_ sources: [Observable<Element>]) {
    for (source, slot) in zip(sources, slots) {
      attach(
        source,
        put: { [self] element in
          if slot.latest == nil { missing -= 1 }
          slot.latest = element
        }, close: { slot.closed = true })
    }
  }

  override func advance() {
    if missing == 0 { emit(slots.compactMap(\.latest)) }
  }

  override var isExhausted: Bool {
    slots.contains { $0.closed && $0.latest == nil } || slots.allSatisfy(\.closed)
  }
}

import PortableFoundation
import Streams

/// A buffer between a transport that delivers elements and a consumer that takes them at its own pace.
///
/// It pauses the transport when it holds `limit` bytes, and resumes it when half of them have been taken. `Control` is the
/// transport's control, a `StreamControl`.
package class FlowBuffer<Element: Sendable, End: Sendable, Control: Sendable>: @unchecked Sendable {
  // Safe: adds constants and a lock.
  package enum Step: Sendable {
    case element(Element)
    case end(End)
    /// The buffer is empty. The waiter will be called.
    case wait
  }

  /// A consumer that waits for an element; it is called once. Tasks resume on their own executors, so the transport's
  /// thread resumes them directly. Other consumers are called on the mapping scheduler.
  private struct Waiter {
    let isTask: Bool
    let call: @Sendable () -> Void
  }

  private struct State {
    var elements: [Element?] = []
    var head = 0
    var bytes = 0
    var isPaused = false
    /// Whether the buffer had room again before a control was attached.
    var resumesLate = false
    /// Set when the transport has finished, or the consumer has stopped.
    var end: End?
    var control: Control?
    var isAttached = false
    /// The work that waits for a control.
    var early: [@Sendable () -> Void] = []
    var waiter: Waiter?
    var isClaimed = false
    var listeners: [@Sendable () -> Void] = []
  }

  package final let scheduler: any ImmediateSchedulerType
  private final let limit: Int
  private final let cost: @Sendable (Element) -> Int
  private final let asControl: @Sendable (Control) -> any StreamControl
  /// The state of the buffer, used by the transport's thread and the reader. Control, waiter and listeners are called
  /// outside the lock.
  private final let state = Locked(State())

  package init(
    _ scheduler: any ImmediateSchedulerType, limit: Int, cost: @escaping @Sendable (Element) -> Int,
    asControl: @escaping @Sendable (Control) -> any StreamControl
  ) {
    (self.scheduler, self.limit, self.cost, self.asControl) = (scheduler, limit, cost, asControl)
  }

  /// Attaches the transport's control, and disposes it immediately if the transfer has ended.
  package final func attach(_ control: Control) {
    let (isOver, resumes) = state.withLock { state in
      if state.end == nil { state.control = control }
      return (state.end != nil, state.resumesLate)
    }
    if isOver { asControl(control).dispose() } else if resumes { asControl(control).resume() }
    // Work that arrives meanwhile joins the queue, so that the order is kept.
    while let work = nextEarlyWork() { work() }
  }

  private final func nextEarlyWork() -> (@Sendable () -> Void)? {
    state.withLock { state in
      state.isAttached = state.early.isEmpty
      return state.isAttached ? nil : state.early.removeFirst()
    }
  }

  /// Runs `work` in order, as soon as a control is attached: usually immediately, else on the thread that attaches it.
  package final func whenAttached(_ work: @escaping @Sendable () -> Void) {
    let isEarly = state.withLock { state in
      if !state.isAttached { state.early.append(work) }
      return !state.isAttached
    }
    if !isEarly { work() }
  }

  /// Appends `element`. Returns `pause` if the buffer is full.
  // Specialized, like `take`, because another module calls it for each element.
  @_specialize(where Element == Data, End == NetworkError?, Control == any StreamControl)
  @_specialize(
    where Element == WebSocketMessage, End == Result<WebSocketClose, NetworkError>, Control == any WebSocketControl
  )
  package final func push(_ element: Element) -> BodyFlow {
    let cost = cost(element)
    let (waiter, flow) = state.withLock { state -> (Waiter?, BodyFlow) in
      guard state.end == nil else { return (nil, .continue) }
      state.elements.append(element)
      state.bytes += cost
      state.isPaused = state.bytes >= limit
      return (state.waiter.take(), state.isPaused ? .pause : .continue)
    }
    wake(waiter)
    return flow
  }

  package final func end(with end: End) {
    let (waiter, listeners) = state.take {
      state -> ((Waiter?, [@Sendable () -> Void]), Control?) in
      guard state.end == nil else { return ((nil, []), nil) }
      state.end = end
      return ((state.waiter.take(), exchange(&state.listeners, with: [])), state.control.take())
    }
    for listener in listeners { listener() }
    wake(waiter)
  }

  /// Stops the transport and drops the buffered elements, because the consumer has stopped.
  package final func cancel(with end: End) {
    let (control, waiter, listeners) = state.take { state in
      // This also applies after the end if elements are left, because a truncated body must not look complete.
      if state.end == nil || state.head < state.elements.count { state.end = end }
      (state.head, state.bytes) = (0, 0)
      return (
        (state.control.take(), state.waiter.take(), exchange(&state.listeners, with: [])),
        exchange(&state.elements, with: [])
      )
    }
    if let control { asControl(control).dispose() }
    for listener in listeners { listener() }
    wake(waiter)
  }

  /// The transport's control until the end, and then the end.
  package final var connection: (control: Control?, end: End?) { state.withLock { ($0.control, $0.end) } }

  private final func wake(_ waiter: Waiter?) {
    guard let waiter else { return }
    if waiter.isTask { waiter.call() } else { _ = scheduler.schedule(waiter.call) }
  }

  // MARK: The consumer

  /// Claims the right to consume. Returns `false` if it has been claimed before.
  package final func claim() -> Bool { state.withLock { !exchange(&$0.isClaimed, with: true) } }

  /// Returns the next element or the end. If neither is available, calls `ready` later: immediately for a task, else on
  /// the mapping scheduler. Only one consumer may call this.
  @_specialize(where Element == Data, End == NetworkError?, Control == any StreamControl)
  @_specialize(
    where Element == WebSocketMessage, End == Result<WebSocketClose, NetworkError>, Control == any WebSocketControl
  )
  package final func take(isTask: Bool = false, orCall ready: @escaping @Sendable () -> Void) -> Step {
    let (step, control) = state.withLock { state -> (Step, Control?) in
      guard state.head < state.elements.count, let element = state.elements[state.head].take() else {
        if let end = state.end { return (.end(end), nil) }
        state.waiter = Waiter(isTask: isTask, call: ready)
        return (.wait, nil)
      }
      state.head += 1
      state.bytes -= cost(element)
      if state.head == state.elements.count || state.head >= 1024 {
        state.elements.removeFirst(state.head)
        state.head = 0
      }
      guard state.isPaused, state.bytes <= limit / 2 else { return (.element(element), nil) }
      state.isPaused = false
      if state.control == nil { state.resumesLate = true }
      return (.element(element), state.control)
    }
    if let control { asControl(control).resume() }
    return step
  }

  /// Calls the waiter, if there is one, even without an element.
  package final func wakeWaiter() { state.withLock { $0.waiter.take() }?.call() }

  /// Calls `listener` once, when the transport has finished or the consumer has stopped; immediately if that has
  /// already happened.
  package final func whenOver(_ listener: @escaping @Sendable () -> Void) {
    let isOver = state.withLock { state in
      if state.end == nil { state.listeners.append(listener) }
      return state.end != nil
    }
    if isOver { listener() }
  }
}

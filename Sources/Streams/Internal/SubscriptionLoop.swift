/// Subscribes one stream after another on behalf of its downstream, in a loop: none is started from inside the end of
/// the one before (laws 14 and 27).
@usableFromInline
final class SubscriptionLoop: Sendable {
  @usableFromInline typealias Start = @Sendable (Subscription) -> Bool
  @usableFromInline typealias Ended = @Sendable (SubscriptionLoop, (any Error)?) -> Void

  private let downstream: Subscription
  private let start: Start
  private let ended: Ended
  private let current = SerialDisposable()
  private let trampoline = Trampoline()

  /// - Parameters:
  ///   - start: runs the next stream in the scope it is given; false if there is none, which completes the downstream.
  ///   - ended: is told how each stream ended.
  @usableFromInline
  init(_ downstream: Subscription, start: @escaping Start, ended: @escaping Ended) {
    self.downstream = downstream
    self.start = start
    self.ended = ended
    downstream.own(current)
  }

  @usableFromInline
  func next() {
    trampoline.bounce {
      guard !downstream.isStopped else { return }
      let scope = HandlerScope(above: downstream) { [self] error in ended(self, error) }
      current.disposable = scope
      if !start(scope) { downstream.complete() }
    }
  }

  /// The end of one in a sequence: an error ends all, completion starts the next.
  @usableFromInline
  static func inSequence(_ downstream: Subscription) -> Ended {
    { loop, error in if let error { downstream.fail(error) } else { loop.next() } }
  }
}

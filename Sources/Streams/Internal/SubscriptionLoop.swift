import Dispatch

/// A loop that subscribes to one stream after another for its downstream.
///
/// No stream is started from inside the terminal event of the previous one (contract, laws 14 and 27). None is started before the
/// loop over `values` below, if there is one, takes more.
@usableFromInline
final class SubscriptionLoop: Sendable {
  @usableFromInline typealias Start = @Sendable (Subscription) -> Bool
  @usableFromInline typealias Ended = @Sendable (SubscriptionLoop, (any Error)?) -> Void

  private let downstream: Subscription
  private let start: Start
  private let ended: Ended
  private let current = SerialDisposable()
  private let trampoline = Trampoline()
  /// The subscription to ask before each stream; `nil` if all streams start immediately.
  private let demand: Subscription?

  /// - Parameters:
  ///   - isPaced: Whether a busy `concatMap` below delays the next stream, too: not by default, because that changes
  ///     the times of streams that don't emit immediately.
  ///   - start: A closure that runs the next stream in the given scope; returns `false` if there is none, which
  ///     completes the downstream.
  ///   - ended: A closure that receives the terminal event of each stream.
  @usableFromInline
  init(_ downstream: Subscription, isPaced: Bool = false, start: @escaping Start, ended: @escaping Ended) {
    self.downstream = downstream
    self.start = start
    self.ended = ended
    demand = isPaced ? downstream : downstream.loop
    downstream.own(current)
  }

  @usableFromInline
  func next() {
    trampoline.bounce {
      guard !downstream.isStopped else { return }
      if let demand, !demand.takesMore(orCall: { [self] in resume() }) { return }
      let scope = HandlerScope(above: downstream) { [self] error in ended(self, error) }
      current.disposable = scope
      if !start(scope) { downstream.complete() }
    }
  }

  /// Continues on a global queue, because the thread that takes more must not run the streams. It may be the main thread.
  private func resume() { DispatchQueue.global(qos: .userInitiated).async { [self] in next() } }

  /// Handles the terminal event of a stream in a sequence: an error fails the sequence, completion starts the next
  /// stream.
  @usableFromInline
  static func inSequence(_ downstream: Subscription) -> Ended {
    { loop, error in if let error { downstream.fail(error) } else { loop.next() } }
  }
}

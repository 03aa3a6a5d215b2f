import Dispatch
import PortableFoundation
import Streams

extension Network {
  /// Calls `endpoint` and blocks until the result arrives; for command-line tools.
  ///
  /// `mapping` and `delivery` are not used, because they may be the blocked queue itself. A call with interceptors that
  /// need the blocked thread fails with an error of kind `timeout` instead of a deadlock: after the time limit, or without one
  /// as soon as the network has sent and received no request for a minute.
  /// Do not block the main thread of an app with this function.
  ///
  /// - Throws: The call's `NetworkError`; `invalidRequest` immediately if the thread would wait for itself, or is the
  ///   transport's, which serves all calls.
  @available(*, noasync, message: "await request(_:).value instead")
  public func wait<E: Endpoint>(for endpoint: E) throws(NetworkError) -> E.Output {
    try waiting(for: CallContent(endpoint)) { $0.request(endpoint) as Single<E.Output> }
  }

  /// Whether the current thread is the transport's, which no caller may block.
  package var isOnTransportThread: Bool { (transport as? any ThreadedTransport)?.isCurrentThread == true }

  private func waiting<Result: Sendable>(
    for endpoint: CallContent, _ call: (Network) -> Single<Result>
  ) throws(NetworkError) -> Result {
    guard !SynchronousCall.isInside else {
      throw reading.error(
        .invalidRequest, "a blocking call inside the callback of another one would deadlock; use request(_:)")
    }
    guard !isOnTransportThread else {
      throw reading.error(
        .invalidRequest,
        "a blocking call on the transport's thread would stop every request; use request(_:) or await fetch")
    }
    let own = with {
      $0.mapping = SynchronousCall.makeScheduler()
      $0.delivery = nil
    }
    // The transport reaches its own limit first, unless it needs this thread.
    let total = endpoint.timeout ?? backend.timeouts.call ?? backend.timeouts.attempt
    // Without the comparison, the sum of a limit of many years could exceed the range of `Duration`.
    let limit = total.flatMap { $0 < .seconds(1_000_000_000) ? $0 + .seconds(1) : nil }
    let result = call(own).asObservable()
    let results: [Result]?
    do {
      results = try BlockingWait.elements(of: total == nil ? result.takeUntil(own.isStuck) : result, within: limit)
    } catch {
      throw NetworkError.wrapping(error)
    }
    guard let result = results?.first else {
      throw reading.error(
        .timeout, "no result arrived; its delivery may require this blocked thread, so use request(_:)")
    }
    return result
  }
}

extension Network {
  /// Emits when no request has been in flight for a minute. No pause of a retry is longer by default.
  private var isStuck: Observable<Int> {
    requestsInFlight.flatMapLatest { [clock = backend.clock] count -> Observable<Int> in
      count > 0 ? .never() : .timer(.seconds(61), scheduler: clock)
    }
  }
}

/// The scheduler of synchronous calls.
private enum SynchronousCall {
  private static let mark = QueueMark()

  static func makeScheduler() -> QueueScheduler {
    let queue = DispatchQueue(label: "NetLayer.synchronous")
    mark.put(on: queue)
    return QueueScheduler(queue: queue)
  }

  static var isInside: Bool { mark.isHere }

  struct QueueScheduler: ImmediateSchedulerType {
    let queue: DispatchQueue

    func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable {
      queue.async(execute: action)
      return Disposables.create()
    }
  }
}

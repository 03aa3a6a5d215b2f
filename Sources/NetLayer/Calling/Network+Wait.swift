import Dispatch
import PortableFoundation
import Streams

extension Network {
  /// Calls `endpoint` and waits for the result: for command-line tools (article row 0.12).
  ///
  /// Blocks the calling thread, so not for apps' main threads, although it works there: neither `mapping` nor `delivery` is
  /// used, since they might be the very queue that waits. A call from a transport's thread, or one whose interceptors need
  /// the waiting thread, fails with an error of kind `timeout` when the total time limit is over, in place of a deadlock.
  ///
  /// - Throws: the call's `NetworkError`; `invalidRequest` at once on a thread that would wait for itself.
  @available(*, noasync, message: "await request(_:).value instead")
  public func wait<E: TypedEndpoint>(for endpoint: E) throws -> E.Response {
    try waiting(for: Call(endpoint)) { $0.request(endpoint) as Single<E.Response> }
  }

  /// Calls `endpoint` and waits for the answer, whatever its status. See the typed form.
  ///
  /// - Throws: the call's `NetworkError`.
  @available(*, noasync, message: "await request(_:).value instead")
  public func wait(for endpoint: some Endpoint) throws -> Response {
    try waiting(for: Call(endpoint)) { $0.request(endpoint) as Single<Response> }
  }

  private func waiting<Result: Sendable>(
    for endpoint: Call, _ call: (Network) -> Single<Result>
  ) throws -> Result {
    guard !SynchronousCall.isInside else {
      throw reading.error(
        .invalidRequest, "a synchronous call from inside another one's delivery would wait for itself; use request(_:)")
    }
    let own = with {
      $0.mapping = SynchronousCall.makeScheduler()
      $0.delivery = nil
    }
    // The transport's own limit is reached first, unless it is this thread that it needs.
    let total = endpoint.timeout.map { $0 / .seconds(1) } ?? backend.timeouts.total
    // A limit of many years is none, and more than a `Duration` may hold.
    let limit: Duration? = total > 0 && total < 1e9 ? .seconds(total + 1) : nil
    let results = try BlockingWait.elements(
      of: call(own).asObservable(), within: limit)
    guard let result = results?.first else {
      throw reading.error(
        .timeout, "the result did not arrive while this thread waited for it; its delivery may need this very thread")
    }
    return result
  }
}

/// Where synchronous calls are mapped, each on a serial queue of its own, known by a key: it gets a thread also where
/// the callers block all of the pool that concurrent queues share.
private enum SynchronousCall {
  private static let key = DispatchSpecificKey<Bool>()

  static func makeScheduler() -> QueueScheduler {
    let queue = DispatchQueue(label: "NetLayer.synchronous")
    queue.setSpecific(key: key, value: true)
    return QueueScheduler(queue: queue)
  }

  /// Whether the caller is inside the delivery of a synchronous call.
  static var isInside: Bool { DispatchQueue.getSpecific(key: key) == true }

  struct QueueScheduler: ImmediateSchedulerType {
    let queue: DispatchQueue

    func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable {
      queue.async(execute: action)
      return Disposables.create()
    }
  }
}

import Foundation
import Streams

/// Lets identical requests share one exchange (article row 3.14).
///
/// ```swift
/// Backend(baseURL: url, interceptors: [.ignoreRepeats(within: .seconds(2))])
/// ```
/// A GET or HEAD that is like one in flight, in URL and every header field, gets the answer or error of that one. The
/// exchange is cancelled when the last who waits for it has left, never before. What ends, fails or is cancelled leaves
/// nothing behind, so the next such request is sent. Within a window, if there is one, a repetition gets the last answer
/// instead; errors are never repeated.
///
/// It belongs in front of all that sends, repeats or caches; what hears of every call, such as a logger, in front of it.
public final class CoalescingInterceptor: Interceptor {
  private struct Key: Hashable {
    let method: HTTPMethod
    let url: URL
    let headers: HTTPHeaders
  }

  private struct Flight {
    let id: Int
    let exchanges: Observable<Exchange>
    /// The last answer, as long as repetitions get it.
    var answer: Exchange?
  }

  private struct State {
    var flights: [Key: Flight] = [:]
    var lastID = 0
  }

  private let window: Duration
  private let scheduler: any SchedulerType
  private let state = Locked(State())

  /// Shares what is in flight, and answers for `window` behind it; `scheduler` times that.
  public init(
    window: Duration = .zero, scheduler: any SchedulerType = ConcurrentDispatchQueueScheduler(qos: .utility)
  ) {
    self.window = window
    self.scheduler = scheduler
  }

  /// Answers `request` from one in flight that is the same, or sends it.
  public func intercept(_ request: Request, next: Chain) -> Observable<Exchange> {
    // What has a body may change something; a download writes a file of its own, and a stream is read once.
    guard request.method == .get || request.method == .head, case .none = request.body, request.destination == nil,
      !request.isStreamed
    else { return next(request) }
    let key = Key(method: request.method, url: request.url, headers: request.headers)
    return Observable.deferred { [self] in
      state.withLock { state in
        if let flight = state.flights[key] { return flight.answer.map(Observable.just) ?? flight.exchanges }
        state.lastID += 1
        let id = state.lastID
        let shared = exchanges(request, next, key, id)
        state.flights[key] = Flight(id: id, exchanges: shared)
        return shared
      }
    }
  }

  private func exchanges(_ request: Request, _ next: Chain, _ key: Key, _ id: Int) -> Observable<Exchange> {
    // Deferred, as the others' code must not run under the lock.
    Observable.deferred { next(request) }
      .do(
        // Before the answer is passed on: whoever asks again because of it is not given it again.
        onNext: { [self] exchange in answered(key, id, exchange) },
        onDispose: { [self] in forget(key, id) { $0.answer == nil } }
      )
      .share(replay: 1)
  }

  private func answered(_ key: Key, _ id: Int, _ exchange: Exchange) {
    guard window > .zero else { return forget(key, id) { _ in true } }
    let former = state.withLock { state -> Flight? in
      guard let flight = state.flights[key], flight.id == id else { return nil }
      state.flights[key]?.answer = exchange
      return flight  // released outside the lock
    }
    guard let former, former.answer == nil else { return }
    _ = scheduler.scheduleRelative(window) { [weak self] in self?.forget(key, id) { _ in true } }
  }

  private func forget(_ key: Key, _ id: Int, where condition: (Flight) -> Bool) {
    let forgotten = state.withLock { state -> Flight? in
      guard let flight = state.flights[key], flight.id == id, condition(flight) else { return nil }
      return state.flights.removeValue(forKey: key)
    }
    withExtendedLifetime(forgotten) {}  // released outside the lock
  }
}

extension Interceptor where Self == CoalescingInterceptor {
  /// Lets identical GETs in flight share one exchange.
  public static var coalescing: CoalescingInterceptor { CoalescingInterceptor() }

  /// The same, and answers repetitions within `window` of an answer with that answer (article row 3.14).
  public static func ignoreRepeats(
    within window: Duration, scheduler: any SchedulerType = ConcurrentDispatchQueueScheduler(qos: .utility)
  ) -> CoalescingInterceptor {
    CoalescingInterceptor(window: window, scheduler: scheduler)
  }
}

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
/// One user never gets what another asked for: the token of an `AuthenticationInterceptor` further inside tells them
/// apart, as do the header fields. Where something else further inside adds credentials, give an `account`.
///
/// It belongs in front of all that sends, repeats or caches; what hears of every call, such as a logger, in front of it.
public final class CoalescingInterceptor: Interceptor {
  private let window: Duration
  private let scheduler: any SchedulerType
  private let account: (@Sendable (Request) -> String?)?
  private let flights = Locked<[Key: Flight]>([:])

  /// Shares what is in flight, and answers for `window` behind it; `scheduler` times that.
  ///
  /// - Parameters:
  ///   - window: how long an answer is given to repetitions; none by default.
  ///   - account: who is signed in, where the request does not say so yet; asked on the subscribing thread.
  ///   - scheduler: times the window.
  public init(
    window: Duration = .zero, account: (@Sendable (Request) -> String?)? = nil,
    scheduler: any SchedulerType = ConcurrentDispatchQueueScheduler(qos: .utility)
  ) {
    self.window = window
    self.account = account
    self.scheduler = scheduler
  }

  /// Answers `request` from one in flight that is the same, or sends it.
  public func intercept(_ request: Request, next: Chain) -> Observable<Exchange> {
    // What has a body may change something; a download writes a file of its own, and a stream is read once.
    guard request.method == .get || request.method == .head, case .none = request.body, request.destination == nil,
      !request.isStreamed
    else { return next(request) }
    // Not made of `share`: this is on the way of every GET, and takes a third of its allocations.
    return Observable(push: { [self] subscription, emit in
      let key = Key(
        method: request.method, url: request.url, headers: request.headers, policy: request.cachePolicy,
        account: account.map { $0(request) } ?? Self.token(for: request, next),
        // The transport adds them behind all interceptors.
        cookies: request.chosenOptions?.value.cookies?.header(for: request.url))
      let (flight, isNew, answer) = flights.withLock { flights -> (Flight, Bool, Exchange?) in
        if let flight = flights[key] {
          if flight.answer == nil { flight.observers.append((subscription, emit)) }
          return (flight, false, flight.answer)
        }
        let flight = Flight(key, (subscription, emit))
        flights[key] = flight
        return (flight, true, nil)
      }
      if let answer { return Observable.just(answer).observeOn(next.mapping).run(subscription, emit) }
      subscription.own(Disposables.create { [self] in leave(flight, subscription) })
      if isNew { start(flight, next(request)) }
    })
  }

  /// The token that the request will carry.
  private static func token(for request: Request, _ next: Chain) -> String? {
    for case let inner as AuthenticationInterceptor in next.interceptors where inner.covers(request) {
      return inner.token?.access
    }
    return nil
  }

  private func start(_ flight: Flight, _ exchanges: Observable<Exchange>) {
    let scope = HandlerScope { [self] error in
      for (subscription, _) in ended(flight) { subscription.finish(error) }
    }
    let isWanted = flights.withLock { _ in
      flight.scope = scope
      return !flight.observers.isEmpty
    }
    guard isWanted else { return scope.dispose() }
    exchanges.run(scope) { [self] exchange in
      for (subscription, emit) in answered(flight, exchange) where !subscription.isStopped {
        subscription.deliver(exchange, to: emit)
      }
    }
  }

  /// Who gets `exchange`. Whoever asks from now on is not given it, but for the window: also not when it is the answer that
  /// makes them ask again.
  private func answered(_ flight: Flight, _ exchange: Exchange) -> [Flight.Observer] {
    // What a cache gives for the time being is not the answer.
    if exchange.response.cached?.isProvisional == true { return flights.withLock { _ in flight.observers } }
    let (observers, former, begins) = flights.withLock { flights in
      let former = flight.answer
      let isKept = window > .zero && flights[flight.key] === flight
      if isKept { flight.answer = exchange } else { Self.forget(flight, &flights) }
      return (flight.observers, former, isKept && former == nil)
    }
    withExtendedLifetime(former) {}  // released outside the lock
    if begins {
      _ = scheduler.scheduleRelative(window) { [weak self] in
        self?.flights.withLock { Self.forget(flight, &$0) }
      }
    }
    return observers
  }

  private func ended(_ flight: Flight) -> [Flight.Observer] {
    flights.withLock { flights in
      if flight.answer == nil { Self.forget(flight, &flights) }
      defer { flight.observers = [] }
      return flight.observers
    }
  }

  private func leave(_ flight: Flight, _ subscription: Subscription) {
    let (left, scope) = flights.withLock { flights -> (Flight.Observer?, HandlerScope?) in
      guard let index = flight.observers.firstIndex(where: { $0.0 === subscription }) else { return (nil, nil) }
      let left = flight.observers.remove(at: index)
      guard flight.observers.isEmpty else { return (left, nil) }
      if flight.answer == nil { Self.forget(flight, &flights) }
      return (left, flight.scope)
    }
    withExtendedLifetime(left) {}  // released outside the lock
    scope?.dispose()
  }

  private static func forget(_ flight: Flight, _ flights: inout [Key: Flight]) {
    if flights[flight.key] === flight { flights[flight.key] = nil }
  }
}

extension CoalescingInterceptor {
  private struct Key: Hashable {
    let method: HTTPMethod
    let url: URL
    let headers: HTTPHeaders
    let policy: CachePolicy?
    let account: String?
    let cookies: String?
  }

  /// One exchange and those who share it.
  private final class Flight: @unchecked Sendable {  // safe: touched under the interceptor's lock only
    typealias Observer = (Subscription, Observable<Exchange>.Next)

    let key: Key
    var observers: [Observer]
    /// The subscription to what is sent.
    var scope: HandlerScope?
    /// The last answer, as long as repetitions get it.
    var answer: Exchange?

    init(_ key: Key, _ first: Observer) {
      self.key = key
      observers = [first]
    }
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

import Foundation
import Streams

/// Lets identical requests share one exchange (article row 3.14).
///
/// ```swift
/// Backend(baseURL: url, interceptors: [.ignoreRepeats(within: .seconds(2))])
/// ```
/// A GET or HEAD that is like one in flight, in URL, every header field, time limits and all that is asked of the cache and
/// the transport, gets the answer or error of that one, and reads it by the rules of its own back end. One that reports
/// progress, or has values of the caller's in its `context`, is sent by itself. A request of an unsafe method (POST, PUT, PATCH, DELETE …) ends the sharing of what was
/// asked of its origin before: who asks behind it asks the server. The exchange is cancelled when the last who waits for it has left, never before. What ends, fails or is cancelled leaves
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
  /// Subscribers, the exchange's thread and the timer; members are copied out and called after.
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
  public func intercept(_ request: Request, next: Chain) -> Observable<Response> {
    guard request.method.isSafe else { return forgettingOrigin(of: request, next(request)) }
    // What has a body may be read once; a download writes a file of its own, and progress is one caller's.
    guard request.method == .get || request.method == .head, case .none = request.body, request.destination == nil,
      !request.isStreamed, !request.context[ReportsProgress.self], !request.context[HasNotes.self],
      request.caching.isComparable
    else { return next(request) }
    // Not made of `share`: this is on the way of every GET, and takes a third of its allocations.
    return Observable(push: { [self] subscription, emit in
      let key = Key(
        request, account: account.map { $0(request) } ?? next.interceptors.account(of: request))
      let (flight, isNew, answer) = flights.withLock { flights -> (Flight, Bool, Response?) in
        if let flight = flights[key] {
          if flight.answer == nil { flight.join(subscription, emit) }
          return (flight, false, flight.answer)
        }
        let flight = Flight(key)
        flight.join(subscription, emit)
        flights[key] = flight
        return (flight, true, nil)
      }
      if let answer { return Observable.just(answer).observeOn(next.mapping).run(subscription, emit) }
      subscription.own(Disposables.create { [self] in leave(flight, subscription) })
      if isNew { start(flight, next(request)) }
    })
  }

  /// A write. What is asked behind it must not get what was sent or answered before it, so the origin's flights go on for
  /// those who are aboard alone, from when its response is there, and again from its end, whatever that is.
  private func forgettingOrigin(of request: Request, _ exchanges: Observable<Response>) -> Observable<Response> {
    let origin = Origin(request.url)
    let forget: @Sendable () -> Void = { [weak self] in
      guard let self else { return }
      let stale = flights.withLock { flights in
        let stale = flights.filter { Origin($0.key.url) == origin }
        for key in stale.keys { flights[key] = nil }
        return stale
      }
      withExtendedLifetime(stale) {}  // released outside the lock
    }
    return exchanges.do(onNext: { _ in forget() }, onError: { _ in forget() }, onDispose: forget)
  }

  private func start(_ flight: Flight, _ exchanges: Observable<Response>) {
    let scope = HandlerScope { [self] error in
      for member in ended(flight) { member.subscription.finish(error) }
    }
    let isWanted = flights.withLock { _ in
      flight.scope = scope
      return !flight.members.isEmpty
    }
    guard isWanted else { return scope.dispose() }
    exchanges.run(scope) { [self] response in
      for member in answered(flight, response) where !member.subscription.isStopped {
        member.subscription.deliver(response, to: member.emit)
      }
    }
  }

  /// Who gets `exchange`. Whoever asks from now on is not given it, but for the window: also not when it is the answer that
  /// makes them ask again.
  private func answered(_ flight: Flight, _ response: Response) -> [Flight.Member] {
    // What a cache gives for the time being is not the answer.
    if response.cached?.isProvisional == true { return flights.withLock { _ in flight.inOrder } }
    let (members, former, begins) = flights.withLock { flights in
      let former = flight.answer
      let isKept = window > .zero && flights[flight.key] === flight
      if isKept { flight.answer = response } else { Self.forget(flight, &flights) }
      return (flight.inOrder, former, isKept && former == nil)
    }
    withExtendedLifetime(former) {}  // released outside the lock
    if begins {
      _ = scheduler.scheduleRelative(window) { [weak self] in
        self?.flights.withLock { Self.forget(flight, &$0) }
      }
    }
    return members
  }

  private func ended(_ flight: Flight) -> [Flight.Member] {
    flights.withLock { flights in
      if flight.answer == nil { Self.forget(flight, &flights) }
      defer { flight.members = [:] }
      return flight.inOrder
    }
  }

  private func leave(_ flight: Flight, _ subscription: Subscription) {
    let (left, scope) = flights.withLock { flights -> (Flight.Member?, HandlerScope?) in
      guard let left = flight.members.removeValue(forKey: ObjectIdentifier(subscription)) else { return (nil, nil) }
      guard flight.members.isEmpty else { return (left, nil) }
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
  /// All that two requests must agree in to share an exchange: what is sent, who asks, and what the caller wants of the
  /// transport and the cache. Priority is left out: who is in a hurry gains by an exchange that has begun.
  private final class Key: Hashable, Sendable {
    private struct Parts: Equatable {
      let method: HTTPMethod
      let url: URL
      let headers: HTTPHeaders
      let account: String?
      let timeouts: Request.Timeouts
      let caching: CacheOptions.Identity
      /// The transport adds them behind all interceptors.
      let cookies: String?
      let jar: ObjectIdentifier?
      let redirects: RedirectPolicy?
      let secrets: Redaction?
      let maxBodySize: Int?
      let version: Request.HTTPVersion?
    }

    private let parts: Parts
    /// Of a part of the parts: few requests to one URL are in flight. Looked for three times, so it is kept.
    private let hash: Int
    var url: URL { parts.url }

    init(_ request: Request, account: String?) {
      let options = request.chosenOptions?.value
      parts = Parts(
        method: request.method, url: request.url, headers: request.headers, account: account,
        timeouts: request.timeouts, caching: request.caching.identity,
        cookies: options?.cookies?.header(for: request.url), jar: options?.cookies.map(ObjectIdentifier.init),
        redirects: options?.redirects, secrets: options?.secrets, maxBodySize: options?.maxBodySize,
        version: options?.httpVersion)
      var hasher = Hasher()
      hasher.combine(request.url)
      hasher.combine(account)
      hash = hasher.finalize()
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }

    static func == (a: Key, b: Key) -> Bool { a === b || (a.hash == b.hash && a.parts == b.parts) }
  }

  /// One exchange and those who share it.
  private final class Flight: @unchecked Sendable {  // safe: touched under the interceptor's lock only
    struct Member {
      let number: Int
      let subscription: Subscription
      let emit: Observable<Response>.Next
    }

    let key: Key
    var members: [ObjectIdentifier: Member] = [:]
    private var joined = 0
    /// The subscription to what is sent.
    var scope: HandlerScope?
    /// The last answer, as long as repetitions get it.
    var answer: Response?

    init(_ key: Key) { self.key = key }

    func join(_ subscription: Subscription, _ emit: @escaping Observable<Response>.Next) {
      joined += 1
      members[ObjectIdentifier(subscription)] = Member(number: joined, subscription: subscription, emit: emit)
    }

    /// The members, the first to join first.
    var inOrder: [Member] {
      members.count < 2 ? Array(members.values) : members.values.sorted { $0.number < $1.number }
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

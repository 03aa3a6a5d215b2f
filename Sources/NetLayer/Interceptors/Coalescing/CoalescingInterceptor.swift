import PortableFoundation
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
  private let flights = Locked<Set<Flight>>([])

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
      let own = Flight(request, account: account.map { $0(request) } ?? next.interceptors.account(of: request))
      let member = Member(self, subscription, emit)
      let (isNew, answer) = flights.withLock { flights -> (Bool, Response?) in
        let (isNew, flight) = flights.insert(own)
        if flight.answer == nil { flight.join(member) }
        return (isNew, flight.answer)
      }
      if let answer { return Observable.just(answer).observeOn(next.mapping).run(subscription, emit) }
      subscription.own(member)
      if isNew { start(own, next(request)) }
    })
  }

  /// A write. What is asked behind it must not get what was sent or answered before it, so the origin's flights go on for
  /// those who are aboard alone, from when its response is there, and again from its end, whatever that is.
  private func forgettingOrigin(of request: Request, _ exchanges: Observable<Response>) -> Observable<Response> {
    let origin = Origin(request.url)
    let forget: @Sendable () -> Void = { [weak self] in
      guard let self else { return }
      let stale = flights.withLock { flights in
        let stale = flights.filter { Origin($0.url) == origin }
        flights.subtract(stale)
        return stale
      }
      withExtendedLifetime(stale) {}  // released outside the lock
    }
    return exchanges.do(onNext: { _ in forget() }, onError: { _ in forget() }, onDispose: forget)
  }

  private func start(_ flight: Flight, _ exchanges: Observable<Response>) {
    let scope = HandlerScope { [self] error in
      ended(flight).forEach { $0.subscription.finish(error) }
    }
    let isWanted = flights.withLock { _ in
      flight.scope = scope
      return !flight.members.isEmpty
    }
    guard isWanted else { return scope.dispose() }
    exchanges.run(scope) { [self] response in
      answered(flight, response).forEach { $0.subscription.deliverIfActive(response, to: $0.emit) }
    }
  }

  /// Who gets `response`. Whoever asks from now on is not given it, but for the window: also not when it is the answer that
  /// makes them ask again.
  private func answered(_ flight: Flight, _ response: Response) -> Members {
    // What a cache gives for the time being is not the answer.
    if response.cached?.isProvisional == true { return flights.withLock { _ in flight.members } }
    let (members, former, begins) = flights.withLock { flights in
      let former = flight.answer
      let isKept = window > .zero && Self.index(of: flight, in: flights) != nil
      if isKept { flight.answer = response } else { Self.forget(flight, &flights) }
      return (flight.members, former, isKept && former == nil)
    }
    withExtendedLifetime(former) {}  // released outside the lock
    if begins {
      _ = scheduler.scheduleRelative(window) { [weak self] in
        self?.flights.withLock { Self.forget(flight, &$0) }
      }
    }
    return members
  }

  private func ended(_ flight: Flight) -> Members {
    flights.withLock { flights in
      if flight.answer == nil { Self.forget(flight, &flights) }
      defer { flight.members = Members() }
      return flight.members
    }
  }

  private func leave(_ member: Member) {
    let (flight, scope) = flights.withLock { flights -> (Flight?, HandlerScope?) in
      guard let flight = member.flight.take() else { return (nil, nil) }
      guard flight.members.remove(member), flight.members.isEmpty else { return (flight, nil) }
      if flight.answer == nil { Self.forget(flight, &flights) }
      return (flight, flight.scope)
    }
    withExtendedLifetime(flight) {}  // released outside the lock
    scope?.dispose()
  }

  /// Where this very flight is, and not another one like it.
  private static func index(of flight: Flight, in flights: Set<Flight>) -> Set<Flight>.Index? {
    flights.firstIndex(of: flight).flatMap { flights[$0] === flight ? $0 : nil }
  }

  private static func forget(_ flight: Flight, _ flights: inout Set<Flight>) {
    if let index = index(of: flight, in: flights) { flights.remove(at: index) }
  }
}

extension CoalescingInterceptor {
  /// One exchange and those who share it. Two are equal when their requests agree in all that counts: what is sent, who asks,
  /// and what the caller wants of the transport and the cache. Priority is left out: who is in a hurry gains by an exchange
  /// that has begun.
  private final class Flight: Hashable, @unchecked Sendable {
    // Safe: what varies is touched under the interceptor's lock only.
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
    var members = Members()
    private var joined = 0
    /// The subscription to what is sent.
    var scope: HandlerScope?
    /// The last answer, as long as repetitions get it.
    var answer: Response?

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

    func join(_ member: Member) {
      joined += 1
      member.number = joined
      member.flight = self
      members.add(member)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }

    static func == (a: Flight, b: Flight) -> Bool { a === b || (a.hash == b.hash && a.parts == b.parts) }
  }

  /// Who waits for an exchange; disposing it leaves.
  private final class Member: Disposable, @unchecked Sendable {
    // Safe: what varies is touched under the interceptor's lock only.
    private let interceptor: CoalescingInterceptor
    let subscription: Subscription
    let emit: Observable<Response>.Next
    var flight: Flight?
    var number = 0
    /// Where it is among the others.
    var index = 0

    init(
      _ interceptor: CoalescingInterceptor, _ subscription: Subscription, _ emit: @escaping Observable<Response>.Next
    ) {
      (self.interceptor, self.subscription, self.emit) = (interceptor, subscription, emit)
    }

    func dispose() { interceptor.leave(self) }
  }

  /// Those who wait; mostly one.
  private struct Members {
    private var one: Member?
    private var others: [Member] = []

    var isEmpty: Bool { one == nil && others.isEmpty }

    mutating func add(_ member: Member) {
      if one == nil { return one = member }
      member.index = others.count
      others.append(member)
    }

    /// `false` where it is not among them any more.
    mutating func remove(_ member: Member) -> Bool {
      if one === member {
        one = nil
        return true
      }
      guard member.index < others.count, others[member.index] === member, let last = others.popLast() else {
        return false
      }
      if last !== member {
        others[member.index] = last
        last.index = member.index
      }
      return true
    }

    /// The first to join first.
    func forEach(_ body: (Member) -> Void) {
      guard !others.isEmpty else { return one.map(body) ?? () }
      for member in (others + (one.map { [$0] } ?? [])).sorted(by: { $0.number < $1.number }) { body(member) }
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

import PortableFoundation
import Streams

/// An interceptor that shares one response between identical concurrent requests.
///
/// A GET or HEAD request that equals a request in flight shares its response or error, and reads it with the settings
/// of its own backend. Equal requests have the same URL, header fields, time limits of an attempt, cache options and
/// transport options. Limits of the whole call (`Timeouts.call`) may differ: each call ends at its own limit, and the shared
/// request with the last of them.
///
/// A request whose URL another origin has chosen, such as a link, is sent separately. So is one that reports progress,
/// one whose `context` has values from the caller, and each refetch of a live query. When a request with an unsafe
/// method (POST, PUT, PATCH, DELETE …) ends, earlier requests to its origin are no longer shared. With a `window`, requests within
/// that time receive the last response; errors are never reused.
///
/// One user never receives the response of another: the header fields, the token of an `AuthenticationInterceptor` after
/// this interceptor, and the transport distinguish users. If another interceptor after this one adds credentials, pass an
/// `account`.
///
/// Place it before all interceptors that retry or cache, and after those that observe every call, such as a logger.
public final class CoalescingInterceptor: SendingInterceptor {
  private let window: Duration
  private let account: (@Sendable (Request) -> String?)?
  /// Guards the set of shared requests, which subscribers, the shared request's thread and the timer access. Members
  /// are copied and called outside the lock.
  private let sharedRequests = Locked<Set<SharedRequest>>([])

  /// Creates an interceptor that shares requests in flight and reuses their responses within `window`, zero by default.
  ///
  /// `account` returns the signed-in user, if the request does not identify it yet. It is called on the subscribing
  /// thread.
  public init(window: Duration = .zero, account: (@Sendable (Request) -> String?)? = nil) {
    self.window = window
    self.account = account
  }

  /// Shares the response of an equal request in flight, or sends `request`.
  public func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    guard request.method.isSafe else { return forgettingOrigin(of: request, next(request)) }
    // A body may be readable only once, a download writes its own file, and progress belongs to one caller. A refetch needs
    // the present state of the server.
    guard request.method == .get || request.method == .head, case .none = request.body, request.destination == nil,
      !request.isStreamed, next.progress == nil, !request.context[HasNotes.self],
      request.caching.isComparable,
      !request.caching.isRefetch,
      !request.isForeign
    else { return next(request) }
    return Observable(Sharing(interceptor: self, request: request, next: next))
  }

  /// A request that shares its response. Every GET runs this code. It allocates a third as often as `share`.
  private final class Sharing: StreamSource {
    let interceptor: CoalescingInterceptor
    let request: Request
    let next: InterceptorChain

    init(interceptor: CoalescingInterceptor, request: Request, next: InterceptorChain) {
      (self.interceptor, self.request, self.next) = (interceptor, request, next)
    }

    func start(_ sink: Sink<Response>) { interceptor.join(request, next, sink) }
  }

  private func join(_ request: Request, _ next: InterceptorChain, _ sink: Sink<Response>) {
    let own = SharedRequest(
      self, request, account: account.map { $0(request) } ?? next.laterAccount(of: request, isAsked: false),
      next.network.sharingIdentity(of: request), next.clock)
    let limit = CallLimit.of(request)
    let member = Member(self, sink, limit)
    if let limit, !limit.admits(member) { return }
    let (isNew, stored, joined) = sharedRequests.withLock { sharedRequests -> (Bool, Response?, SharedRequest?) in
      let (isNew, shared) = sharedRequests.insert(own)
      // One that nobody began belongs to a user meanwhile.
      if !isNew, shared.hasAdopted, shared.call !== own.call { return (false, nil, nil) }
      if shared.response == nil { shared.join(member) }
      return (isNew, shared.response, shared)
    }
    guard let shared = joined else {
      limit?.leave(member)
      return next(request).run(sink.subscription, sink.next)
    }
    // The transport asks for the users of a new request.
    if !isNew, let failure = next.network.logins.signOut(of: request) {
      member.dispose()
      return sink.subscription.fail(failure)
    }
    if let stored {
      limit?.leave(member)
      return Observable.just(stored).observeOn(next.mapping).run(sink.subscription, sink.next)
    }
    sink.subscription.own(member)
    guard isNew else {
      shared.limit?.extend(to: limit)
      return
    }
    start(own, next(own.limit?.attached(to: request) ?? request))
  }

  /// Ends a call at its own limit. The limit of the last one ends the shared request, whose error then passes the interceptors.
  private func end(_ member: Member, with error: NetworkError) {
    let (limit, isLast) = sharedRequests.withLock { sharedRequests -> (CallLimit?, Bool) in
      guard let shared = member.shared else { return (nil, false) }
      let isLast = shared.members.count == 1
      // No other call may join a request that ends.
      if isLast { Self.forget(shared, &sharedRequests) } else { shared.members.removeAll { $0 === member } }
      return (shared.limit, isLast)
    }
    if isLast, limit?.expire(error) == true { return }
    member.finish(limit?.explained(error) ?? error)
  }

  /// Sends a write. Later reads must not share earlier requests or responses, so the origin's shared requests continue
  /// only for their present members. They are detached when the write's response arrives, and again when the write ends
  /// in any way.
  private func forgettingOrigin(of request: Request, _ exchanges: Observable<Response>) -> Observable<Response> {
    let origin = Origin(request.url)
    let forget: @Sendable () -> Void = { [weak self] in
      guard let self else { return }
      sharedRequests.release { sharedRequests in
        let stale = sharedRequests.filter { origin.contains($0.url) }
        sharedRequests.subtract(stale)
        return stale
      }
    }
    return exchanges.do(onNext: { _ in forget() }, onError: { _ in forget() }, onDispose: forget)
  }

  private func start(_ shared: SharedRequest, _ exchanges: Observable<Response>) {
    let scope = HandlerScope { shared.finish($0) }
    let isWanted = sharedRequests.withLock { _ in
      shared.scope = scope
      return !shared.members.isEmpty
    }
    guard isWanted else { return scope.dispose() }
    exchanges.run(scope) { shared.receive($0) }
  }

  /// Returns the members that receive `response`. Later requests only share it within the window, even if the response
  /// itself triggers them.
  private func responded(_ shared: SharedRequest, _ response: Response) -> [Member] {
    // A provisional response of a cache is not the final one.
    if response.cached?.isProvisional == true { return sharedRequests.withLock { _ in shared.members } }
    let (members, begins) = sharedRequests.take { sharedRequests in
      let former = shared.response
      // A user who has signed in meanwhile may have sent the request.
      let isOwn =
        (account != nil || shared.isOfSameAccount(response))
        && response.concernsUser(of: response.request)
      let isKept = window > .zero && isOwn && Self.index(of: shared, in: sharedRequests) != nil
      if isKept { shared.response = response } else { Self.forget(shared, &sharedRequests) }
      return ((shared.members, isKept && former == nil), former)
    }
    if begins {
      _ = shared.clock.scheduleRelative(window) { [weak self] in
        self?.sharedRequests.withLock { Self.forget(shared, &$0) }
      }
    }
    return members
  }

  private func ended(_ shared: SharedRequest) -> [Member] {
    sharedRequests.withLock { sharedRequests in
      if shared.response == nil { Self.forget(shared, &sharedRequests) }
      defer { shared.members = [] }
      return shared.members
    }
  }

  private func leave(_ member: Member) {
    let (scope, limit) = sharedRequests.take { sharedRequests -> ((HandlerScope?, CallLimit?), SharedRequest?) in
      guard let shared = member.shared.take() else { return ((nil, nil), nil) }
      shared.members.removeAll { $0 === member }
      guard shared.members.isEmpty else { return ((nil, nil), shared) }
      if shared.response == nil { Self.forget(shared, &sharedRequests) }
      return ((shared.scope, shared.limit), shared)
    }
    scope?.dispose()
    // Its last failure has the request, whose context has the limit.
    limit?.dispose()
  }

  /// Returns the index of exactly this object, not of an equal one.
  private static func index(of shared: SharedRequest, in sharedRequests: Set<SharedRequest>) -> Set<SharedRequest>
    .Index?
  {
    sharedRequests.firstIndex(of: shared).flatMap { sharedRequests[$0] === shared ? $0 : nil }
  }

  private static func forget(_ shared: SharedRequest, _ sharedRequests: inout Set<SharedRequest>) {
    if let index = index(of: shared, in: sharedRequests) { sharedRequests.remove(at: index) }
  }
}

extension CoalescingInterceptor {
  /// A shared request and its members. Two of them are equal if they agree in content, user, transport options and
  /// cache options. Priority is ignored: an urgent request benefits from a request that has already started.
  private final class SharedRequest: Hashable, @unchecked Sendable {
    // Safe: the mutable state is only accessed under the interceptor's lock, unless it says otherwise.
    private struct Parts: Equatable {
      let method: HTTPMethod
      let url: URL
      let headers: HTTPHeaders
      let account: String?
      let transport: TransportIdentity
      let timeouts: Request.Timeouts
      let caching: CacheOptions.Identity
      /// The cookies, which the transport adds after all interceptors.
      let cookies: String?
      let jar: ObjectIdentifier?
      let redirects: RedirectPolicy?
      let redaction: Redaction?
      let maxBodySize: Int?
      let version: Request.HTTPVersion?
    }

    /// The interceptor until the request ends, so that a response within the window does not retain it. Only the request's
    /// events use it, which are serial.
    private var interceptor: CoalescingInterceptor?
    let clock: any SchedulerType
    private let parts: Parts
    /// A hash of some of the parts, because few requests to one URL are in flight. It is stored for three lookups.
    private let hash: Int
    var members: [Member] = []
    var scope: HandlerScope?
    var response: Response?

    /// The users of the call that sends it, and how many of them it had adopted when the key was made.
    let call: CallAccounts?
    private let adoptions: Int
    /// Whether the call has become that of a user meanwhile, which the key does not say.
    var hasAdopted: Bool { call.map { $0.adoptions != adoptions } ?? false }
    /// The limit of the calls together, if the first one has a limit.
    let limit: CallLimit?

    /// The number of credentials that interceptors before this one have added.
    private let credentialCount: Int

    var url: URL { parts.url }

    /// Returns whether the request of `response` was sent without credentials, or with those of the account.
    func isOfSameAccount(_ response: Response) -> Bool {
      guard !hasAdopted else { return false }
      let added = response.request.credentials.dropFirst(credentialCount).map(\.account)
      return added.isEmpty || Request.Credentials.joined(added) == parts.account
    }

    init(
      _ interceptor: CoalescingInterceptor, _ request: Request, account: String?, _ transport: TransportIdentity,
      _ clock: any SchedulerType
    ) {
      self.clock = clock
      self.interceptor = interceptor
      call = request.context[CallAccounts.self]
      adoptions = call?.adoptions ?? 0
      limit = CallLimit.of(request)?.shared(clock)
      credentialCount = request.credentials.count
      let options = request.chosenOptions?.value
      parts = Parts(
        method: request.method, url: request.url, headers: request.headers, account: account, transport: transport,
        timeouts: request.timeouts.ofShared, caching: request.caching.identity,
        cookies: options?.cookies?.header(for: request.url), jar: options?.cookies.map(ObjectIdentifier.init),
        redirects: options?.redirects, redaction: options?.redaction, maxBodySize: options?.maxBodySize,
        version: options?.httpVersion)
      var hasher = Hasher()
      hasher.combine(request.url)
      hasher.combine(account)
      hash = hasher.finalize()
    }

    func join(_ member: Member) {
      member.shared = self
      members.append(member)
    }

    /// Passes a response to the members. The closures of the request capture only this object, so they are not allocated.
    func receive(_ response: Response) {
      interceptor?.responded(self, response).forEach { $0.receive(response) }
    }

    func finish(_ error: (any Error)?) {
      interceptor.take()?.ended(self).forEach { $0.finish(error) }
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }

    static func == (a: SharedRequest, b: SharedRequest) -> Bool { a === b || (a.hash == b.hash && a.parts == b.parts) }
  }

  /// A subscriber that waits for a shared request; disposing removes it.
  private final class Member: Disposable, LimitedWork, @unchecked Sendable {
    // Safe: the mutable state is only accessed under the interceptor's lock.
    private let interceptor: CoalescingInterceptor
    private let sink: Sink<Response>
    var shared: SharedRequest?
    private let limit: CallLimit?
    /// Serializes the events of the shared request and the end of the limit; `nil` for a call without one.
    private let turn: Turn?

    init(_ interceptor: CoalescingInterceptor, _ sink: Sink<Response>, _ limit: CallLimit?) {
      (self.interceptor, self.sink, self.limit) = (interceptor, sink, limit)
      turn = limit == nil ? nil : Turn()
    }

    func receive(_ response: Response) {
      guard let turn else { return sink.subscription.deliverIfActive(response, to: sink.next) }
      turn.drain.run { [sink] in sink.subscription.deliverIfActive(response, to: sink.next) }
    }

    func finish(_ error: (any Error)?) {
      guard let turn else { return sink.subscription.finish(error) }
      turn.drain.run { [sink] in sink.subscription.finish(error) }
    }

    func end(with error: NetworkError) { interceptor.end(self, with: error) }

    func dispose() {
      limit?.leave(self)
      interceptor.leave(self)
    }

    private final class Turn: Sendable { let drain = Drain() }
  }
}

extension Request.Timeouts {
  /// The limits without that of the whole call, which each call applies itself.
  fileprivate var ofShared: Self {
    guard let call, call > .zero else { return self }
    var limits = self
    limits.call = nil
    return limits
  }
}

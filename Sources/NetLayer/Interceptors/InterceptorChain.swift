import Streams

/// The rest of the chain after an interceptor: the next interceptors and, finally, the transport.
public struct InterceptorChain: Sendable {
  enum Delivery {
    /// The mapping queue, on which the receiver is called.
    case mapping
    /// A task that awaits the response. The receiver is called on the transport's thread, so it must only resume the task.
    case task
  }

  let network: Network
  let progress: ProgressHandler?
  let delivery: Delivery
  private let place: Int

  init(network: Network, progress: ProgressHandler?, delivery: Delivery, place: Int = 0) {
    (self.network, self.progress, self.delivery, self.place) = (network, progress, delivery, place)
  }

  /// Sends `request` to the rest of the chain at each subscription; two subscriptions send it twice.
  public func callAsFunction(_ request: Request) -> Observable<Response> {
    network.logins.hasOwn ? checked(request) : send(request)
  }

  @inline(__always)
  private func send(_ request: Request) -> Observable<Response> {
    let rest = InterceptorChain(network: network, progress: progress, delivery: delivery, place: place + 1)
    return network.interceptors[place].intercept(request, next: rest)
  }

  /// Sends `request`, unless a custom source passes it of a user who has signed out.
  @inline(never)
  private func checked(_ request: Request) -> Observable<Response> {
    guard caller != nil, let failure = network.logins.signOut(of: request) else { return send(request) }
    return .error(failure)
  }

  /// The custom source that has this chain as `next`; `nil` for another interceptor.
  private var caller: (any AccountSource)? {
    network.logins.own(at: place - 1)
  }

  /// Sends `request` with the header fields of `credentials`, which no other origin receives.
  ///
  /// If the calling interceptor is an ``AccountSource``, the account must be that of the user who began the call.
  /// Otherwise, the stream fails with kind `authentication`. A request whose URL another origin has chosen is sent
  /// without credentials.
  public func callAsFunction(_ request: Request, with credentials: Request.Credentials) -> Observable<Response> {
    do throws(NetworkError) {
      return send(try carrying(credentials, request))
    } catch {
      return .error(error)
    }
  }

  private func carrying(_ credentials: Request.Credentials, _ request: Request) throws(NetworkError) -> Request {
    guard !request.isForeign else { return request }
    if let call = request.context[CallAccounts.self], let source = caller {
      try call.check(credentials.account, of: source, request)
    }
    var request = request
    request.headers = request.headers.merging(credentials.headers)
    request.credentials.append(credentials)
    return request
  }

  /// Returns a text that stands for the users of the call, for the keys of an interceptor that returns stored responses; `nil`
  /// for nobody.
  ///
  /// It is a digest of the names of all sources that cover `request`, or of the token of a user without a name. Ask for it
  /// before each response that is not from `next`, because a user who has signed out must not receive one.
  ///
  /// - Throws: `NetworkError` of kind `authentication` if a user of the call has signed out, or another one has signed in.
  public func account(of request: Request) throws(NetworkError) -> String? { try network.logins.digest(of: request) }

  /// Returns the account with which the rest of the chain will authenticate `request`, or `nil` for none.
  func laterAccount(of request: Request, isAsked: Bool = true) -> String? {
    network.logins.account(of: request, from: place, isAsked: isAsked)
  }

  /// The backend's clock, with which an interceptor measures times and schedules delays.
  public var clock: any SchedulerType { network.backend.clock }

  var mapping: any ImmediateSchedulerType { network.backend.mapping }
}

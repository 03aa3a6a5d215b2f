import PortableFoundation
import Streams

/// A client that calls one backend.
///
/// An app writes one function per call, in an extension:
///
/// ```swift
/// extension Network {
///   func user(_ id: Int) -> Observable<User> { json(.get("/users/\(id)")).data() }
/// }
/// ```
/// The network sends nothing until someone subscribes. Each subscription sends its own request, and disposing the
/// subscription cancels that request. Results arrive on the backend's `mapping` or `delivery` scheduler; errors are
/// `NetworkError`s.
public final class Network: Sendable {
  /// The backend to call.
  public let backend: Backend
  package let reading: ResponseContext
  package let builder: RequestBuilder
  let observers: CallObservers?
  /// The backend's interceptors, then those that sign and send.
  package let interceptors: [any Interceptor]
  /// The sources of users: interceptors in order, then the signer and the transport.
  package let accountSources: [any AccountSource]
  /// The same, with their places.
  let logins: AccountLogins
  let activity: Activity
  /// The values that this network shares with its copies by `with`.
  package let shared: SharedValues
  package let transportIdentity: TransportIdentity
  /// A function that runs work on the backend's `mapping` scheduler.
  package let runOnMappingQueue: @Sendable (@escaping @Sendable () -> Void) -> Void
  /// The number of the transport with which the network was created, before any `with`.
  private let ownTransport: UInt64

  /// Creates a network that calls `backend`.
  public convenience init(_ backend: Backend = Backend()) {
    self.init(backend, activity: Activity(), shared: SharedValues(), own: backend.transportNumber)
  }

  /// Creates a copy of `network` that passes its requests to `receive` instead of sending them. No observer sees them.
  convenience init(preparing network: Network, _ receive: @escaping @Sendable (Request) -> Void) {
    var backend = network.backend
    backend.interceptors.removeAll { $0 is any SendingInterceptor }
    self.init(
      backend, activity: network.activity, shared: network.shared, own: network.ownTransport,
      last: PreparingInterceptor(receive: receive), isObserved: false)
  }

  private init(
    _ backend: Backend, activity: Activity, shared: SharedValues, own: UInt64,
    last: any Interceptor = TransportInterceptor(), isObserved: Bool = true
  ) {
    self.backend = backend
    ownTransport = own
    self.activity = activity
    self.shared = shared
    observers = CallObservers(
      isObserved ? backend.interceptors.compactMap { ($0 as? any CallObserver)?.observe } : [], clock: backend.clock)
    reading = ResponseContext(
      ResponseContext.Home(
        envelope: backend.envelope, decoder: backend.coding.decoder, encoder: backend.coding.encoder,
        messages: backend.messages, delivery: backend.delivery, redaction: backend.redaction, onError: backend.onError,
        mapError: backend.mapError, observers: observers))
    runOnMappingQueue = backend.mapping.submit
    let account = backend.transport?.account
    transportIdentity = TransportIdentity(
      number: backend.transportNumber, account: account, isLasting: account != nil || backend.transportNumber == own)
    interceptors =
      backend.interceptors + (backend.signerAccount.map { [SigningInterceptor(account: $0)] } ?? [])
      + [last]
    logins = AccountLogins(
      backend.interceptors.map { $0 as? any AccountSource },
      others: [backend.signer as? any AccountSource, backend.transport as? any AccountSource],
      signerAccount: backend.signerAccount)
    accountSources = logins.all.map(\.source)
    var options = backend.options
    var context = Context()
    context[ResponseContext.self] = reading
    if !backend.redaction.hidesNothing { options.redaction = options.redaction.hiding(backend.redaction) }
    builder = RequestBuilder(
      baseURL: backend.currentURL, headers: backend.headers, commonParameters: backend.commonParameters,
      timeouts: backend.timeouts, options: Request.OptionsBox(options), signer: backend.signer,
      conventions: EncodingConventions(
        json: backend.coding.encoder, query: backend.queryEncoding, parameters: backend.bodyEncoding), context: context)
  }

  /// Returns a network with a modified backend, for a call that needs another decoder, interceptor, timeout or stub.
  ///
  /// Both networks share the count of `requestsInFlight`, and their interceptors. If the change replaces the transport,
  /// which may act for another user, the new network shares no responses with this one. A copy with another login needs
  /// another cache: keys distinguish the users of each login, not the logins.
  public func with(_ change: (inout Backend) -> Void) -> Network {
    var backend = backend
    change(&backend)
    return Network(backend, activity: activity, shared: shared, own: ownTransport)
  }

  /// Returns a network with a modified backend that passes no error to the app's handlers: for attempts that others
  /// follow, and for requests whose failure is a result. To report such an error later, pass it as `unreported`.
  package func quiet(_ change: (inout Backend) -> Void) -> Network {
    with {
      ($0.onError, $0.mapError) = (nil, nil)
      change(&$0)
    }
  }

  /// The number of requests in flight, emitted immediately and after each change.
  ///
  /// Counts are delivered one at a time, in order, on the threads where requests start and end.
  public var requestsInFlight: Observable<Int> { activity.count }

  package var transport: any Transport { backend.transport ?? Self.platformTransport }
  /// The transport of all backends without their own; they share it because it keeps connections open.
  private static let platformTransport = DefaultTransport.make()

  /// Guards the default network, which any thread may set or read; only the reference is held under the lock.
  private static let chosen = Locked<Network?>(nil)
  private static let unconfigured = Network()
}

extension Network {
  /// The network of calls that don't specify one, such as `endpoint.request()`.
  ///
  /// It has no base URL until `setDefault` is called.
  public static var `default`: Network { chosen.withLock { $0 } ?? unconfigured }

  /// Sets the default network, once, at the start of the program.
  ///
  /// - Throws: `NetworkError` of kind `invalidRequest` on every call after the first; the first network remains.
  public static func setDefault(_ network: Network) throws(NetworkError) {
    let isFirst = chosen.withLock { stored in
      defer { stored = stored ?? network }
      return stored == nil
    }
    guard isFirst else {
      throw NetworkError(
        kind: .invalidRequest, reason: "Network.default is already set; for another backend, create a separate Network")
    }
    ResponseContext.setStandard(network.reading)
  }
}

import PortableFoundation
import Streams

#if canImport(Darwin)
  import Network
#endif

/// A monitor of the network's availability.
public protocol Reachability: Sendable {
  /// Whether a network is available, emitted immediately and after each change, on any thread.
  var isReachable: Observable<Bool> { get }
}

/// The reachability that the system reports.
///
/// On Apple platforms, it uses `NWPathMonitor`. On other platforms, a network is available while an interface other
/// than the loopback is up and has an address. It checks the interfaces every two seconds while it has a subscriber.
public struct SystemReachability: Reachability {
  /// The state that replaces the system's in a test.
  private let fixed: Bool?

  /// Creates a monitor of the system's reachability.
  public init() { fixed = nil }

  init(fixed: Bool) { self.fixed = fixed }

  #if canImport(Darwin)
    /// Whether the current path is satisfied.
    public var isReachable: Observable<Bool> {
      if let fixed { return .just(fixed) }
      return Observable.create { observer in
        let monitor = NWPathMonitor()
        monitor.pathUpdateHandler = { observer.onNext($0.status == .satisfied) }
        monitor.start(queue: DispatchQueue(label: "NetLayer.SystemReachability"))
        return Disposables.create { monitor.cancel() }
      }
      .distinctUntilChanged()
    }
  #else
    /// Whether an interface is up.
    public var isReachable: Observable<Bool> {
      if let fixed { return .just(fixed) }
      return Observable<Int>.interval(.seconds(2), scheduler: ConcurrentDispatchQueueScheduler(qos: .utility))
        .startWith(0)
        .map { _ in Self.hasAddress }
        .distinctUntilChanged()
    }

    static var hasAddress: Bool {
      var first: UnsafeMutablePointer<ifaddrs>?
      guard getifaddrs(&first) == 0 else { return false }
      defer { freeifaddrs(first) }
      var next = first
      while let interface = next?.pointee {
        let family = interface.ifa_addr.map { Int32($0.pointee.sa_family) }
        let flags = Int(interface.ifa_flags)
        if family == AF_INET || family == AF_INET6, flags & Int(IFF_UP) != 0,
          flags & Int(IFF_LOOPBACK) == 0
        {
          return true
        }
        next = interface.ifa_next
      }
      return false
    }
  #endif
}

extension Reachability {
  /// Returns the availability of a network for requests to `url`. The system's state does not matter for the local machine. A
  /// custom monitor also decides about that, because it may have further reasons, such as an app that is suspended.
  package func isReachable(_ url: URL?, by transport: (any Transport)?) -> Observable<Bool> {
    guard self is SystemReachability, let url else { return isReachable }
    let isLocal = url.isLoopback || (transport as? any SocketTransport)?.isUnixSocket(url) == true
    return isLocal ? .just(true) : isReachable
  }
}

/// An interceptor that waits for a network instead of failing without one.
///
/// A request starts when a network is available. A request that fails without a network, with an error of kind
/// `connection`, `unknownHost` or `timeout`, is sent again later, provided that this is safe. The local machine
/// (`localhost`, 127.0.0.0/8, `::1`) needs no network. Place it before a `RetryInterceptor`, so that waiting does not
/// use up its attempts.
public struct ReachabilityInterceptor: SendingInterceptor {
  private let reachability: any Reachability
  private let maxWait: Duration

  /// Creates an interceptor that waits up to `maxWait`. The default is a minute, the longest time that users usually
  /// wait. After that, the call fails with its last error, or with kind `connection` if it was never sent.
  public init(_ reachability: any Reachability = SystemReachability(), maxWait: Duration = .seconds(60)) {
    self.reachability = reachability
    self.maxWait = maxWait
  }

  /// Sends `request` when a network is available.
  public func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    guard !request.url.isLoopback else { return next(request) }
    let reason = "no network was available for \(maxWait); check the connection"
    let offline = NetworkError(kind: .connection, reason: reason, request: request)
    return networked(next.clock, offline).flatMap { _ in
      next(request).catchError { error in
        let known = NetworkError.wrapping(error)
        guard request.isIdempotent, request.body.isRepeatable, known.isTransient else { throw error }
        return reachability.isReachable.take(1).flatMap { isReachable -> Observable<Response> in
          guard !isReachable, CallLimit.of(request)?.allows(.zero) ?? true else { throw error }
          return networked(next.clock, known).flatMap { _ in
            var again = request
            again.context[WasSentOffline.self] = true
            return next(again)
          }
        }
      }
    }
  }

  /// Emits once when a network is available, or fails with `error` after the longest wait.
  private func networked(_ clock: any SchedulerType, _ error: NetworkError) -> Observable<Bool> {
    reachability.isReachable.filter { $0 }.take(1)
      .timeout(maxWait, other: .error(error), scheduler: clock)
  }
}

extension URL {
  /// Whether the URL refers to the local machine (RFC 6761 §6.3, RFC 1122 §3.2.1.3, RFC 4291 §2.5.3).
  fileprivate var isLoopback: Bool {
    guard let host = host?.lowercased() else { return false }
    return host == "localhost" || host.hasSuffix(".localhost") || host == "::1" || host == "[::1]"
      || (host.hasPrefix("127.") && host.utf8.allSatisfy { $0.isDigit || $0 == UInt8(ascii: ".") })
  }
}

/// A marker of requests that are sent again after the network was lost. They are not attempts of a retry.
private enum WasSentOffline: ContextKey { static let defaultValue = false }

extension Request {
  /// Whether an interceptor has sent the request before, so that the server may have applied it already.
  var wasSentBefore: Bool { attempt > 1 || context[WasSentOffline.self] }
}

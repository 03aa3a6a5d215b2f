import PortableFoundation
import Streams

#if canImport(Network)
  import Network
#endif

/// Says whether there is a network at all.
public protocol Reachability: Sendable {
  /// Whether there is a network: at once, and at each change, on any thread.
  var isReachable: Observable<Bool> { get }
}

/// The system's own idea of it.
///
/// On Apple platforms what `NWPathMonitor` says. Elsewhere there is a network while an interface other than the loopback is
/// up and has an address, which is looked at every other second while someone is subscribed.
public struct SystemReachability: Reachability {
  /// The system's idea of it.
  public init() {}

  #if canImport(Network)
    /// Whether the current path is satisfied.
    public var isReachable: Observable<Bool> {
      Observable.create { observer in
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
      Observable<Int>.interval(.seconds(2), scheduler: ConcurrentDispatchQueueScheduler(qos: .utility))
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

/// Waits for the network instead of failing without one (article row 3.11).
///
/// A request begins when there is a network. One that fails while there is none, with an error of kind `connection`,
/// `unknownHost` or `timeout`, is sent again when there is one, if it is safe to send it twice. This machine itself
/// (`localhost`, 127.0.0.0/8, `::1`) needs no network. It belongs in front of a
/// `RetryInterceptor`, whose attempts are for servers that are away.
public struct WaitForNetwork: Interceptor {
  private let reachability: any Reachability
  private let limit: Duration
  private let scheduler: any SchedulerType

  /// Waits for at most `limit`, a minute by default: a user has given up by then. Behind that the call fails with what it
  /// failed with, or with kind `connection` if it was never sent.
  public init(
    _ reachability: any Reachability = SystemReachability(), limit: Duration = .seconds(60),
    scheduler: any SchedulerType = ConcurrentDispatchQueueScheduler(qos: .utility)
  ) {
    self.reachability = reachability
    self.limit = limit
    self.scheduler = scheduler
  }

  /// Sends `request` when there is a network.
  public func intercept(_ request: Request, next: Chain) -> Observable<Response> {
    guard !request.url.isLoopback else { return next(request) }
    let reason = "there has been no network for \(limit); check the connection"
    let offline = NetworkError(kind: .connection, reason: reason, request: request)
    return networked(offline).flatMap { _ in
      next(request).catchError { error in
        let known = NetworkError.wrapping(error)
        guard request.isIdempotent, request.body.isRepeatable, known.kind.isTransient else { throw error }
        return reachability.isReachable.take(1).flatMap { isReachable -> Observable<Response> in
          guard !isReachable else { throw error }
          return networked(known).flatMap { _ in next(request) }
        }
      }
    }
  }

  /// Emits once when there is a network; `error` when there has been none for too long.
  private func networked(_ error: NetworkError) -> Observable<Bool> {
    reachability.isReachable.filter { $0 }.take(1)
      .timeout(limit, other: .error(error), scheduler: scheduler)
  }
}

extension URL {
  /// Whether it is of this machine (RFC 6761 §6.3, RFC 1122 §3.2.1.3, RFC 4291 §2.5.3).
  fileprivate var isLoopback: Bool {
    guard let host = host?.lowercased() else { return false }
    return host == "localhost" || host.hasSuffix(".localhost") || host == "::1" || host == "[::1]"
      || (host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." })
  }
}

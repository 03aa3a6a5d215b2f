import Foundation
import Streams

/// Calls one back end (article rows 0.13, 0.14, 0.18).
///
/// A function per call, in an extension, is all that an app writes:
///
/// ```swift
/// extension Network {
///   func userDetail(userid: Int) -> Observable<User> {
///     json(.get, "/user/detail.do", parameters: ["userid": userid]).data()
///   }
/// }
/// ```
/// Nothing is sent before someone subscribes; each subscription sends a request of its own, and disposing it cancels
/// that request. Results arrive on the back end's `mapping` or `delivery` scheduler; errors are `NetworkError`s.
public final class Network: Sendable {
  /// The back end that is called.
  public let backend: Backend
  let rules: Rules
  private let builder: RequestBuilder

  /// A network that calls `backend`.
  public init(_ backend: Backend = Backend()) {
    self.backend = backend
    rules = Rules(
      envelope: backend.envelope, decoder: backend.decoder, messages: backend.messages, delivery: backend.delivery)
    builder = RequestBuilder(
      baseURL: backend.currentURL, headers: backend.headers, commonParameters: backend.commonParameters,
      timeouts: backend.timeouts)
  }

  /// Builds and sends the request of `call` at each subscription; gives any answer, whatever its status.
  func send(_ call: Call, accept: String? = nil) -> Single<Response> {
    let (builder, rules, transport) = (builder, rules, backend.transport ?? Self.platformTransport)
    return Single.create { observer in
      let fail: @Sendable (any Error) -> Void = { observer(.error(NetworkError.wrapping($0).ruled(by: rules))) }
      do {
        let request = try builder.request(for: call, accept: accept)
        return transport.send(request) { result in
          switch result {
          case .success(var response):
            response.rules = rules
            observer(.success(response))
          case .failure(let error):
            fail(error)
          }
        }
      } catch {
        fail(error)
        return Disposables.create()
      }
    }
    // The one hop: off the transport's thread, which must not stall, and off the caller's, which may be the main one.
    .observeOn(backend.mapping)
  }

  /// The transport of back ends that name none: one for all, as it keeps connections.
  private static let platformTransport = DefaultTransport.make()
  private static let chosen = Locked<Network?>(nil)
  private static let unconfigured = Network()
}

extension Network {
  /// The network that calls go through which name no other: `endpoint.request()`, and streams of text and data that say
  /// nothing of their back end (article row 0.18).
  ///
  /// Until `setDefault` was called, one without a base URL.
  public static var `default`: Network { chosen.withLock { $0 } ?? unconfigured }

  /// Chooses the default, once, at the start of the program.
  ///
  /// - Throws: `DefaultAlreadySet` on every call but the first: a second back end belongs into a `Network` of its own.
  public static func setDefault(_ network: Network) throws {
    try chosen.withLock { stored in
      guard stored == nil else { throw DefaultAlreadySet() }
      stored = network
    }
  }

  /// `Network.setDefault` was called a second time; the first choice stays.
  public struct DefaultAlreadySet: LocalizedError, Sendable {
    /// What to do instead.
    public var errorDescription: String? {
      "Network.default has been set already; keep a Network of your own for another back end."
    }
  }
}

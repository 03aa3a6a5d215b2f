import PortableFoundation
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
  let pipeline: CallPipeline
  let builder: RequestBuilder

  /// A network that calls `backend`.
  public convenience init(_ backend: Backend = Backend()) { self.init(backend, activity: Activity()) }

  private init(_ backend: Backend, activity: Activity) {
    self.backend = backend
    pipeline = CallPipeline(backend, activity)
    var options = backend.options
    if !backend.redaction.hidesNothing { options.secrets = options.secrets.hiding(backend.redaction) }
    builder = RequestBuilder(
      baseURL: backend.currentURL, headers: backend.headers, commonParameters: backend.commonParameters,
      timeouts: backend.timeouts, options: Request.OptionsBox(options), signer: backend.signer,
      conventions: BodyConventions(json: backend.encoder, parameters: backend.bodyEncoding))
  }

  /// The same network with a back end that `change` has changed: for what one call needs otherwise than the rest, such as
  /// a decoder, an interceptor, longer timeouts or a stub (article rows 1.9, 3.16).
  ///
  /// ```swift
  /// network.with { $0.timeouts.total = 300 }.request(export)
  /// ```
  /// Its requests count in this network's `requestsInFlight`.
  public func with(_ change: (inout Backend) -> Void) -> Network {
    var backend = backend
    change(&backend)
    return Network(backend, activity: pipeline.activity)
  }

  /// The number of requests in flight, at once and at each change (article row 3.16: the indicator).
  ///
  /// Counts are delivered one at a time, in order, on the threads where requests begin and end: hop before a view is
  /// touched.
  public var requestsInFlight: Observable<Int> { pipeline.activity.count }

  /// Builds and sends the request of `call` at each subscription; gives any answer, whatever its status: the last, where
  /// interceptors give several.
  func send(_ call: Call, accept: String? = nil, progress: ProgressHandler? = nil) -> Single<Response> {
    pipeline.response(progress) { [builder] in try builder.request(for: call, accept: accept) }
  }

  /// Builds and sends the request of `call` at each subscription; gives every answer of the interceptors.
  func responses(_ call: Call, accept: String? = nil, progress: ProgressHandler? = nil) -> Observable<Response> {
    pipeline.responses(progress) { [builder] in try builder.request(for: call, accept: accept) }
  }

  /// Sends `request` as it is, through the interceptors; gives any answer, whatever its status.
  ///
  /// Nothing of the back end's is added: no headers, common parameters or signature.
  public func send(
    _ request: Request, progress: (@Sendable (TransferProgress) -> Void)? = nil
  ) -> Single<Response> {
    pipeline.response(progress) { request }
  }

  /// How answers are read.
  var reading: ResponseContext { pipeline.reading }

  /// Whoever sets or reads the default; a reference only.
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

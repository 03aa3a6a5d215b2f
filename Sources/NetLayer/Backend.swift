import PortableFoundation
import Streams

/// Everything that is the same for all calls to one server: where it is, how it is spoken to, how its answers are read
/// (article rows 0.2, 0.17, 1.1, 1.2, 2.12, 2.14).
///
/// ```swift
/// let shop = Backend(baseURL: shopURL, envelope: Envelope(code: "status", success: 0, message: "msg", data: "result"))
/// ```
public struct Backend: Sendable {
  /// The URL that paths stand below, where `environments` has none for `environment`; its own path is kept.
  public var baseURL: URL?
  /// A base URL for each environment.
  public var environments: [Environment: URL]
  /// Which of `environments` is spoken to.
  public var environment: Environment
  /// Header fields of every request; those of the call win.
  ///
  /// They, the common parameters and the signature go to the back end's own origin (scheme, host, port) only: a call to
  /// an absolute URL of another one gets none of them, since tokens are among them. Without a base URL, every call is
  /// the back end's own.
  public var headers: HTTPHeaders
  /// Parameters of every request, asked for anew each time on the thread that subscribes; those of the call win.
  ///
  /// For GET they travel in the URL, which servers and proxies log: a token is better kept in `headers`.
  public var commonParameters: @Sendable () -> Parameters
  /// How answers are wrapped.
  public var envelope: Envelope
  /// The decoder that makes models of JSON: `.snakeCase`, `.iso8601`, `.snakeCaseISO8601`, or one's own.
  public var decoder: any ModelDecoder
  /// The encoder of JSON bodies, for names, dates and data; the one that mirrors a decoder has its name.
  public var encoder: JSONParameterEncoder
  /// The encoding of parameters that become a body, where a call names none: `.json`, the default, or `.form`.
  public var bodyEncoding: any ParameterEncoder
  /// What users read when the server said nothing itself.
  public var messages: Messages
  /// Signs requests, last of all; `nil` for none.
  public var signer: (any Signer)?
  /// What stands between the calls and the transport, the outermost first (article row 1.2).
  public var interceptors: [any Interceptor]
  /// Hears of every error of a call, once, before the caller does, on the thread where it arose (article row 1.6).
  ///
  /// For what is the same everywhere: a token that has expired, a message for metrics. The caller gets the error, too.
  public var onError: (@Sendable (NetworkError) -> Void)?
  /// Makes of an error what the app wants it to be, before `onError` and the caller see it; `nil` leaves them as they are.
  public var mapError: (@Sendable (NetworkError) -> NetworkError)?
  /// What the descriptions of errors hide; loggers have a setting of their own.
  public var redaction: Redaction
  /// Where bytes go; `nil` is the platform's default, one for all back ends.
  public var transport: (any Transport)?
  /// The time limits of every request.
  public var timeouts: Request.Timeouts
  /// What every request asks of the transport: which redirects it follows, how urgent it is, its cookies.
  public var options: Request.Options
  /// Where answers are parsed and mapped, so that neither the transport's thread nor the main thread does it: a
  /// concurrent global queue, unless given.
  public var mapping: any ImmediateSchedulerType
  /// Where models are delivered: the operators that end a pipeline (`data`, `list`, `bool`, `map(_:at:)`,
  /// `request(_:as:)`, a router's completions) hop there after mapping, their errors included.
  ///
  /// `nil`, the default, delivers where they were mapped: a command-line tool may never run its main loop. Set
  /// `MainScheduler.instance` in an app. `response`, `string`, `json` and `common` never hop there, as mapping follows
  /// them; where it does not, add `observeOn`.
  public var delivery: (any ImmediateSchedulerType)?

  /// A back end with the defaults that the properties describe.
  public init(
    baseURL: URL? = nil, environments: [Environment: URL] = [:], environment: Environment = .production,
    headers: HTTPHeaders = [:], commonParameters: @escaping @Sendable () -> Parameters = { [:] },
    envelope: Envelope = Envelope(), decoder: any ModelDecoder = .default,
    encoder: JSONParameterEncoder = .default, bodyEncoding: any ParameterEncoder = .json,
    messages: Messages = .localized, transport: (any Transport)? = nil,
    timeouts: Request.Timeouts = Request.Timeouts(), options: Request.Options = Request.Options(),
    mapping: any ImmediateSchedulerType = ConcurrentDispatchQueueScheduler(qos: .userInitiated),
    delivery: (any ImmediateSchedulerType)? = nil, signer: (any Signer)? = nil,
    interceptors: [any Interceptor] = [], onError: (@Sendable (NetworkError) -> Void)? = nil,
    mapError: (@Sendable (NetworkError) -> NetworkError)? = nil, redaction: Redaction = .standard
  ) {
    self.baseURL = baseURL
    self.environments = environments
    self.environment = environment
    self.headers = headers
    self.commonParameters = commonParameters
    self.envelope = envelope
    self.decoder = decoder
    self.encoder = encoder
    self.bodyEncoding = bodyEncoding
    self.messages = messages
    self.transport = transport
    self.timeouts = timeouts
    self.options = options
    self.mapping = mapping
    self.delivery = delivery
    self.signer = signer
    self.interceptors = interceptors
    self.onError = onError
    self.mapError = mapError
    self.redaction = redaction
  }

  /// One of the places a back end runs at (article row 2.14); a struct, so that a project can name its own.
  public struct Environment: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
    /// The environment's name.
    public let rawValue: String

    /// An environment of one's own.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// An environment of one's own, as a literal.
    public init(stringLiteral value: String) { rawValue = value }

    /// For testers.
    public static let qa = Environment(rawValue: "qa")
    /// For what is about to be released.
    public static let staging = Environment(rawValue: "staging")
    /// For users.
    public static let production = Environment(rawValue: "production")
  }

  /// The base URL in force.
  var currentURL: URL? { (environments[environment] ?? baseURL)?.overHTTP }
}

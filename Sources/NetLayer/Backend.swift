import PortableFoundation
import Streams

/// The configuration that all calls to one server share: its URL, header fields, envelope, coding and error handling.
///
/// ```swift
/// let shop = Backend(baseURL: shopURL, envelope: Envelope(code: "status", success: 0, message: "msg", data: "result"))
/// ```
public struct Backend: Sendable {
  /// The URL that paths are relative to, used if `environments` has no entry for `environment`. Its own path is kept.
  public var baseURL: URL?
  /// A base URL for each environment.
  public var environments: [Environment: URL]
  /// The environment to call: a key of `environments`.
  public var environment: Environment
  /// The header fields of every request. A call's own fields take precedence.
  ///
  /// Header fields, common parameters and the signature are sent only to the backend's own origin (scheme, host, port).
  /// A call to an absolute URL of another origin is sent without them, because they may contain tokens. Without a base
  /// URL, every call counts as the backend's own.
  public var headers: HTTPHeaders
  /// The parameters of every request. A call's own parameters take precedence.
  ///
  /// The closure runs for each request, on the thread that subscribes. GET requests carry these parameters in the URL,
  /// which servers and proxies log: put tokens into `headers` instead.
  public var commonParameters: @Sendable () -> Parameters
  /// The envelope that wraps the backend's responses; `.none` by default.
  public var envelope: Envelope
  /// The decoder of JSON models and the encoder of JSON bodies: `.snakeCase`, `.iso8601`, `.snakeCaseISO8601` or a custom
  /// pair.
  public var coding: Coding
  /// The format of queries, of forms and of the fields of multipart forms; its `destination` is not used.
  ///
  /// The default writes arrays as `tag[]=a&tag[]=b`, as PHP and Rails read them. Most other frameworks, such as FastAPI,
  /// Django, Spring, Go and ASP.NET, read `.repeated` names and ignore those with brackets.
  public var queryEncoding: URLParameterEncoder
  /// The default encoding of parameters in a body: `.json` (default) or `.form`. A call can name another one.
  public var bodyEncoding: any ParameterEncoder
  /// The messages for users when the server sends none.
  public var messages: NetworkError.Messages
  /// The signer, which runs last; `nil` for no signature.
  public var signer: (any Signer)? { didSet { signerAccount = signer.map { _ in UUID().uuidString } } }
  /// A random account for a signer without one, which no other user has.
  private(set) var signerAccount: String?
  /// The interceptors between the calls and the transport, outermost first.
  public var interceptors: [any Interceptor]
  /// A closure that receives every error of a call once, before the caller: in the task that awaits `fetch`, else on the
  /// thread where the error occurred, never on the transport's.
  public var onError: (@Sendable (NetworkError) -> Void)?
  /// A function that transforms an error before `onError` and the caller receive it; `nil` for no transformation.
  public var mapError: (@Sendable (NetworkError) -> NetworkError)?
  /// The values that error descriptions hide. Loggers have their own setting.
  public var redaction: Redaction
  /// The transport that sends requests; `nil` for the platform's default, which all backends share.
  public var transport: (any Transport)? { didSet { transportNumber = TransportNumbers.number(of: transport) } }
  private(set) var transportNumber: UInt64
  /// The time limits of every request.
  public var timeouts: Request.Timeouts
  /// The transport options of every request: redirects, priority and cookies.
  public var options: Request.Options
  /// The clock of all times: of interceptors, limits of calls, reconnections, downloads, and the cache. A test sets a
  /// `TestScheduler` once, and nothing waits in real time. The transport has its own clock.
  public var clock: any SchedulerType
  /// The scheduler that parses and maps responses, which keeps that work off the transport's thread and the main
  /// thread. A task that awaits `fetch` parses and maps on its own executor. The default is a concurrent global queue.
  public var mapping: any ImmediateSchedulerType
  /// The scheduler that delivers models and their errors after mapping.
  ///
  /// It applies to the operators at the end of a pipeline: `data`, `list`, `bool`, `map(_:at:)`, `request(_:as:)`, and
  /// the completions of a router. `response`, `string`, `json` and `common` don't use it, because mapping usually
  /// follows them; otherwise, add `observeOn`.
  ///
  /// `nil`, the default, delivers on `mapping`, because a command-line tool may never run its main loop. Use
  /// `MainScheduler.instance` in an app.
  public var delivery: (any ImmediateSchedulerType)?

  /// Creates a backend. See the properties for the defaults.
  public init(
    baseURL: URL? = nil, environments: [Environment: URL] = [:], environment: Environment = .production,
    headers: HTTPHeaders = [:], commonParameters: @escaping @Sendable () -> Parameters = { [:] },
    envelope: Envelope = .none, coding: Coding = .default,
    queryEncoding: URLParameterEncoder = URLParameterEncoder(), bodyEncoding: any ParameterEncoder = .json,
    messages: NetworkError.Messages = .localized, transport: (any Transport)? = nil,
    timeouts: Request.Timeouts = Request.Timeouts(), options: Request.Options = Request.Options(),
    clock: any SchedulerType = ConcurrentDispatchQueueScheduler(qos: .utility),
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
    self.coding = coding
    self.queryEncoding = queryEncoding
    self.bodyEncoding = bodyEncoding
    self.messages = messages
    self.transport = transport
    transportNumber = TransportNumbers.number(of: transport)
    self.timeouts = timeouts
    self.options = options
    self.clock = clock
    self.mapping = mapping
    self.delivery = delivery
    self.signer = signer
    signerAccount = signer.map { _ in UUID().uuidString }
    self.interceptors = interceptors
    self.onError = onError
    self.mapError = mapError
    self.redaction = redaction
  }

  /// An environment in which a backend runs. It is a struct, so that a project can add its own.
  public struct Environment: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
    /// The environment's name.
    public let rawValue: String

    /// Creates a custom environment.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Creates a custom environment from a literal.
    public init(stringLiteral value: String) { rawValue = value }

    /// The environment for testers.
    public static let qa = Environment(rawValue: "qa")
    /// The environment for the next release.
    public static let staging = Environment(rawValue: "staging")
    /// The environment for users.
    public static let production = Environment(rawValue: "production")
  }

  /// A decoder of JSON models and the encoder that mirrors it.
  public struct Coding: Sendable {
    /// The decoder of models.
    public var decoder: any ModelDecoder
    /// The encoder of JSON bodies, which determines names, dates and data.
    public var encoder: JSONParameterEncoder

    /// Creates a pair. A custom decoder usually needs an encoder that writes the same names and dates.
    public init(
      decoder: any ModelDecoder = JSONModelDecoder.default, encoder: JSONParameterEncoder = JSONParameterEncoder()
    ) {
      self.decoder = decoder
      self.encoder = encoder
    }

    /// Names and dates as in Foundation's `JSONDecoder` and `JSONEncoder`.
    public static let `default` = Coding()
    /// Names in `snake_case`. A name with an acronym in capitals, such as `myURL`, is sent as `my_url` and read as `myUrl`, as
    /// in Foundation: write `myUrl`, or declare `CodingKeys`.
    public static let snakeCase = Coding(
      decoder: JSONModelDecoder { $0.keyDecodingStrategy = .convertFromSnakeCase },
      encoder: JSONParameterEncoder(keys: .snakeCase))
    /// Dates in ISO 8601, read and written with fractional seconds if there are any.
    public static let iso8601 = Coding(
      decoder: JSONModelDecoder { $0.dateDecodingStrategy = .iso8601WithOrWithoutFractions },
      encoder: JSONParameterEncoder(dates: .iso8601))
    /// Names in `snake_case` and dates in ISO 8601, which most web frameworks use.
    public static let snakeCaseISO8601 = Coding(
      decoder: JSONModelDecoder {
        $0.keyDecodingStrategy = .convertFromSnakeCase
        $0.dateDecodingStrategy = .iso8601WithOrWithoutFractions
      }, encoder: JSONParameterEncoder(dates: .iso8601, keys: .snakeCase))
  }

  package var currentURL: URL? { (environments[environment] ?? baseURL)?.overHTTP }
}

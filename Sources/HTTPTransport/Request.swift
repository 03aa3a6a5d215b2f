import PortableFoundation

/// A request in its final form, as a transport sends it.
public struct Request: Sendable {
  /// The content of a request.
  public enum Body: Sendable {
    /// No body.
    case none
    /// Bytes in memory.
    case data(Data)
    /// The content of a file, read during the upload.
    case file(URL)
    /// Consecutive parts, as in a multipart body. Files are read during the upload.
    case parts([Part])
    /// Chunks that are generated during the upload.
    case stream(BodyStream)

    /// A part of a body.
    public enum Part: Sendable {
      /// Bytes in memory.
      case data(Data)
      /// The content of a file.
      case file(URL)
    }

    package var isRepeatable: Bool {
      if case .stream(let stream) = self { stream.isRepeatable } else { true }
    }
  }

  /// Time limits; `nil` for no limit. A limit of zero or less fails the request with `invalidRequest`.
  ///
  /// The defaults end no call that makes progress. `attempt` and `call` also end one that does.
  public struct Timeouts: Sendable, Hashable {
    /// The time until the connection is established, including name lookup and TLS, but not the wait for a free
    /// connection.
    public var connect: Duration?
    /// The maximum time without a received byte on an open connection, or without a sent one while the request body is sent.
    /// With a request body, the timeout can fire up to 25 % later. In the body of a stream, `silence` replaces it.
    public var idle: Duration?
    /// The time of one attempt, from its start to the last byte, including the wait for a connection and redirects.
    ///
    /// With `nil`, a response that is received as a whole, or into a file, fails with kind `timeout` below a rate of 1 KB in 60 s.
    /// A longer `idle` replaces the 60 s. With `idle` of `nil`, there is no such rule.
    public var attempt: Duration?
    /// The time of the whole call, from the subscription to the result, including retries, their delays, token refreshes and
    /// all other waits. For a streamed response, the time until its head.
    ///
    /// When it ends, the requests in flight fail with kind `timeout`, so that interceptors see the error. A cache may then
    /// respond. If an interceptor keeps the error, the call ends a second later. The last failure of the call is the
    /// `underlying` of the error.
    public var call: Duration?

    /// Creates time limits. The defaults are 15 s to connect, and 60 s without data, as in URLSession. Attempts and calls have no
    /// limit, because no duration fits all transfers.
    public init(
      connect: Duration? = .seconds(15), idle: Duration? = .seconds(60), attempt: Duration? = nil,
      call: Duration? = nil
    ) {
      self.connect = connect
      self.idle = idle
      self.attempt = attempt
      self.call = call
    }
  }

  /// The method.
  public var method: HTTPMethod {
    get { fields.value.method }
    set { fields.value.method = newValue }
  }
  /// The absolute `http` or `https` URL, query included.
  public var url: URL {
    get { fields.value.url }
    set { fields.value.url = newValue }
  }
  /// The header fields of the request.
  public var headers: HTTPHeaders {
    get { fields.value.headers }
    set { fields.value.headers = newValue }
    _modify { yield &fields.value.headers }
  }
  /// The body.
  public var body: Body {
    get { fields.value.body }
    set { fields.value.body = newValue }
  }
  /// The time limits.
  public var timeouts: Timeouts {
    get { fields.value.timeouts }
    set { fields.value.timeouts = newValue }
  }
  /// Whether the whole call has a time limit. Every request asks, so that the limits are not copied.
  package var hasCallLimit: Bool { fields.value.timeouts.call != nil }
  /// The file that stores the body of a successful response; `nil` keeps the body in memory.
  ///
  /// The file appears, or replaces an existing one, when the whole body has arrived. It may have any size, because the
  /// limits of the transports apply to bodies in memory. `Network` writes the file. A transport alone does not; use
  /// `Transport.download(_:to:progress:completion:)`.
  public var destination: URL? {
    get { fields.value.destination }
    set { fields.value.destination = newValue }
  }
  /// The values that interceptors and other layers attach to the request; they are never sent.
  public var context: Context {
    get { fields.value.context }
    set { fields.value.context = newValue }
  }
  /// The storage of `options`; `nil` for the defaults.
  package var chosenOptions: OptionsBox? {
    get { fields.value.chosenOptions }
    set { fields.value.chosenOptions = newValue }
  }

  // `_modify` allocates, so it is only for values whose parts are changed in place, and not for assignments.
  private struct Fields {
    var method: HTTPMethod
    var url: URL
    var headers: HTTPHeaders
    var body: Body
    var timeouts: Timeouts
    var destination: URL?
    var context: Context = Context()
    var chosenOptions: OptionsBox?
  }

  /// Copies share the fields, because a call copies its request many times.
  private var fields: CopyOnWrite<Fields>

  /// Creates a request that the transport sends without additions.
  public init(
    method: HTTPMethod = .get, url: URL, headers: HTTPHeaders = [:], body: Body = .none, timeouts: Timeouts = Timeouts()
  ) {
    fields = CopyOnWrite(Fields(method: method, url: url, headers: headers, body: body, timeouts: timeouts))
  }
}

extension Request: CustomStringConvertible {
  /// The method and URL, without secrets and on one line.
  public var description: String {
    "\(method) \(Redaction.standard.redacted(url))\(attemptNote)".escapingControls()
  }

  /// The text for logs that names the attempt; empty for the first.
  package var attemptNote: String {
    let attempt = attempt
    return attempt > 1 ? " (attempt \(attempt))" : ""
  }
}

private enum AttemptKey: ContextKey { static let defaultValue = 1 }

package enum OriginBoundHeadersKey: ContextKey { package static let defaultValue = HTTPHeaders() }

extension Request {
  /// The number of the attempt that the request belongs to, counted from 1.
  ///
  /// Interceptors that retry a request increase it. Logs and error descriptions show it.
  public var attempt: Int {
    get { context[AttemptKey.self] }
    set { context[AttemptKey.self] = newValue }
  }

  /// The header fields that no redirect to another origin may carry, regardless of their names.
  ///
  /// A network adds the header fields and the signature of its backend. An interceptor that adds credentials adds its
  /// fields here, too.
  public var originBoundHeaders: HTTPHeaders {
    get { context[OriginBoundHeadersKey.self] }
    set { context[OriginBoundHeadersKey.self] = newValue }
  }
}

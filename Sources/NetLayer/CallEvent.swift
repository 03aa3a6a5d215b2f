import PortableFoundation

/// An event of a call, for a ``CallObserver``.
///
/// The events of a call nest in this order:
///
/// ```text
/// started
///   sent                             each attempt; none for a cache hit or a shared call
///     head                           of a streamed response or a WebSocket
///     chunk                          each part of a streamed body
///     messageSent, messageReceived   each message of a WebSocket
///   finished                         the attempt; of a WebSocket, closed
///   pause                            before the next attempt
/// received                           a response has passed all interceptors; of a stream, at any time after its head
///   event                            each server-sent event
///   decoded
/// failed or cancelled                neither, if the call has a result
/// ```
/// A call whose request can't be built has no events. The attempt of a cancelled call may finish after `cancelled`. If a cache
/// responds before the server, there are two `received` events.
public struct CallEvent: Sendable {
  /// The kind of an event. A struct, so that a new kind does not break the `switch` statements of users.
  public struct Kind: Sendable, Hashable, CustomStringConvertible {
    private enum Known {
      case started, sent, head, chunk, messageSent, messageReceived, event, finished, closed, pause, received, decoded
      case failed, cancelled
    }

    private let known: Known

    /// The name of the kind.
    public var description: String { "\(known)" }

    /// A call starts. The event has its `endpoint`.
    public static let started = Kind(known: .started)
    /// An attempt is passed to the transport.
    public static let sent = Kind(known: .sent)
    /// The head of a streamed response, or of an opened WebSocket, has arrived: the `response`.
    public static let head = Kind(known: .head)
    /// A chunk of a streamed body has arrived: the `data`.
    public static let chunk = Kind(known: .chunk)
    /// A WebSocket `message` was passed to the transport.
    public static let messageSent = Kind(known: .messageSent)
    /// A WebSocket `message` has arrived.
    public static let messageReceived = Kind(known: .messageReceived)
    /// A server-sent event has arrived: the `serverEvent`.
    public static let event = Kind(known: .event)
    /// The transport has finished an attempt, with a `response` or an `error`, and their metrics, if known.
    public static let finished = Kind(known: .finished)
    /// The transport has closed a WebSocket, with a `close` or an `error`.
    public static let closed = Kind(known: .closed)
    /// A retry waits for the `duration` before its attempt. The request is that of the next attempt.
    public static let pause = Kind(known: .pause)
    /// A `response` of any status has passed all interceptors: from a cache, from the server, or from the call `sharedFrom`.
    public static let received = Kind(known: .received)
    /// The response was read in the `duration`, successfully or not.
    public static let decoded = Kind(known: .decoded)
    /// The call has failed with the `error`, which `Backend.onError` receives, too.
    public static let failed = Kind(known: .failed)
    /// The caller has cancelled the call.
    public static let cancelled = Kind(known: .cancelled)
  }

  /// The kind of the event.
  public let kind: Kind
  /// The number of the call, which its attempts share. No other call of the process has it.
  public let call: Int
  /// The time on the backend's clock.
  public let time: Duration
  /// The request, as far as interceptors have changed it.
  public var request: Request
  /// The number of requests that the call had sent before, for any reason: a retry, a refreshed token, a challenge, a network
  /// that is back, a reconnection, or a redirect.
  ///
  /// It is 0 for the first request. `pause` has the number of the request that follows.
  public internal(set) var resendCount = 0
  /// The type of the endpoint of `started`; `nil` for a `Call`.
  public internal(set) var endpoint: Any.Type?
  /// The response of `head`, `finished` and `received`. It does not keep a stream open.
  public var response: Response?
  /// The error of `finished`, `closed` and `failed`.
  public var error: NetworkError?
  /// The time since `started` of `received`, `failed` and `cancelled`, and since `sent` of `head`, `finished` and `closed`; that of
  /// `pause` and `decoded` themselves.
  public internal(set) var duration: Duration?
  /// The bytes of `chunk`.
  public var data: Data?
  /// The message of `messageSent` and `messageReceived`.
  public internal(set) var message: WebSocketMessage?
  /// The event of `event`.
  public internal(set) var serverEvent: ServerSentEvent?
  /// The close code of `closed`.
  public internal(set) var close: WebSocketClose?
  /// The number of the call that was sent for the response of `received`: this call, another one, or 0 for a call without
  /// observers.
  public internal(set) var sharedFrom: Int?

  init(_ kind: Kind, of call: CallNumber, at time: Duration, _ request: Request) {
    (self.kind, self.call, self.time, self.request) = (kind, call.value, time, request)
    switch kind {
    case .received, .failed, .cancelled: duration = time - call.start
    case .head, .finished, .closed: duration = request.context[Resends.self].map { time - $0.time }
    default: duration = nil
    }
  }

  /// The transport's metrics of `finished`, `received` and `failed`, as far as they are known.
  public var metrics: TransferMetrics? { response?.metrics ?? error?.metrics }
  /// Whether the error of `failed`, or its response, was that of a `finished` attempt, so that a log of those has it already.
  public var repeatsAttempt: Bool {
    guard let error else { return false }
    // A response of another call, such as that of a token server, is not of this one.
    let isOfCall = error.response.map { $0.requestContext[CallNumber.self].value == call && !$0.source.isCache }
    return isOfCall ?? false || error.context[IsOfAttempt.self]
  }

  /// Notes the number of requests before this event.
  mutating func countResends() {
    let isNext = kind == .started || kind == .pause
    resendCount = response?.resends ?? error?.resends ?? request.resends(isNext: isNext) ?? 0
  }

  /// Adds the result of an attempt.
  mutating func add(_ result: Result<Response, NetworkError>) {
    switch result {
    case .success(let response): self.response = response
    case .failure(let error): self.error = error
    }
  }
}

/// A mark of errors with which the transport has finished an attempt.
enum IsOfAttempt: ContextKey { static let defaultValue = false }

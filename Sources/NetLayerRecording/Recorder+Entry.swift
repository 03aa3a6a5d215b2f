import PortableFoundation

extension Recorder {
  /// A recorded call, without secrets.
  public struct Entry: Sendable, Identifiable {
    /// The stage of a call. A struct, so that a new stage does not break the `switch` statements of users.
    public struct State: Sendable, Hashable, CustomStringConvertible {
      private enum Known { case open, done, failed, cancelled }

      private let known: Known

      /// The name of the stage.
      public var description: String { "\(known)" }

      /// The call has no result yet, or its stream or socket is open.
      public static let open = State(known: .open)
      /// The call has a result.
      public static let done = State(known: .done)
      /// The call has failed.
      public static let failed = State(known: .failed)
      /// The caller has cancelled the call.
      public static let cancelled = State(known: .cancelled)
    }

    /// The error of a call or an attempt.
    public struct Failure: Sendable, Hashable {
      /// The kind.
      public let kind: NetworkError.Kind
      /// The code: of the envelope, the status, or the package's own.
      public let code: Int
      /// The reason for developers.
      public let reason: String
    }

    /// The number of the call, counted from 1.
    public let number: Int
    /// The number of the call.
    public var id: Int { number }
    /// The method.
    public let method: HTTPMethod
    /// The URL, without its fragment, which is not sent.
    public let url: String
    /// The start of the call.
    public let started: Date
    /// The type of the endpoint; `nil` for a `Call`.
    public internal(set) var endpoint: String?
    /// The stage.
    public internal(set) var state = State.open
    /// The time from the start to the end; `nil` for an open call.
    public internal(set) var duration: Duration?
    /// The attempts. A response of a cache or of another call counts as an attempt.
    public internal(set) var attempts: [Attempt] = []
    /// The source of the response: the server, or a cache; `nil` without a response.
    public internal(set) var source: Response.Source?
    /// The number of the call whose response this call shares.
    public internal(set) var sharedWith: Int?
    /// The time of decoding.
    public internal(set) var decoding: Duration?
    /// The final error, which `onError` of the backend receives, too.
    public internal(set) var failure: Failure?

    /// The number of the call in its events.
    let call: Int
    let begin: Duration
    var pause: Duration?
    /// Whether a response has passed all interceptors.
    var hasResult = false

    /// The status of the last attempt; `nil` without a response.
    public var status: Int? { attempts.last?.status }

    init(number: Int, call: Int, request: Request, at now: Date, uptime: Duration, redaction: Redaction) {
      (self.number, self.call, method, started, begin) = (number, call, request.method, now, uptime)
      url = redaction.redacted(request.url.withoutFragment)
    }

    /// The assumed size in memory.
    var size: Int { attempts.reduce(512) { $0 + $1.size } }

    /// The entries of a HAR file.
    var archived: [HAREntry] {
      attempts.indices.flatMap { index -> [HAREntry] in
        let attempt = attempts[index]
        var last = attempt.archived
        last.facts.call = number
        last.facts.attempt = index + 1
        last.facts.endpoint = endpoint
        last.facts.pause = attempt.pause.map { $0.milliseconds }
        var first = attempt.redirects
        for index in first.indices { first[index].facts = last.facts }
        if index == attempts.count - 1 {
          last.facts.cache = HAREntry.Facts.cache(of: source)
          last.facts.coalesced = sharedWith
          last.facts.decoding = decoding.map { $0.milliseconds }
          if let failure {
            last.failure = HAREntry.Failure(kind: failure.kind.rawValue, code: failure.code, reason: failure.reason)
          }
        }
        return first + [last]
      }
    }
  }
}

extension Recorder.Entry {
  /// An attempt of a call.
  public struct Attempt: Sendable {
    package var archived: HAREntry
    package var redirects: [HAREntry] = []
    let begin: Duration
    /// The start of the attempt.
    public let started: Date
    /// The delay before the attempt; `nil` without a delay.
    public let pause: Duration?
    /// The time from the start to the end; `nil` for an open attempt.
    public internal(set) var duration: Duration?
    /// The transport's measurements; `nil` if it does not measure.
    public internal(set) var metrics: TransferMetrics?
    /// The error of the attempt.
    public internal(set) var failure: Failure?
    /// The number of bytes of the response's body, which may exceed `responseBody`.
    public internal(set) var bodySize = 0
    /// The bytes of a streamed body, which are not redacted yet.
    var streamed: Data?
    var isSocket = false

    /// The status; `nil` without a response.
    public var status: Int? { archived.status == 0 ? nil : archived.status }
    /// The header fields of the request, as they were passed to the transport.
    public var requestHeaders: HTTPHeaders { archived.requestHeaders }
    /// The body of the request; `nil` if it is not text, or was not in memory.
    public var requestBody: String? {
      if case .text(let text, _) = archived.requestBody { text } else { nil }
    }
    /// The header fields of the response.
    public var responseHeaders: HTTPHeaders { archived.responseHeaders }
    /// The start of the response's body.
    public var responseBody: Data { archived.body }

    init(_ archived: HAREntry, started: Date, begin: Duration, pause: Duration?) {
      (self.archived, self.started, self.begin, self.pause) = (archived, started, begin, pause)
    }

    var size: Int {
      func count(_ headers: HTTPHeaders) -> Int { headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count } }
      var size =
        512 + archived.url.utf8.count + (requestBody?.utf8.count ?? 0) + archived.body.count + (streamed?.count ?? 0)
      size += count(archived.requestHeaders) + count(archived.responseHeaders)
      size +=
        archived.messages.reduce(0) { $0 + $1.data.utf8.count } + archived.events.reduce(0) { $0 + $1.data.utf8.count }
      return redirects.reduce(size) { $0 + 512 + $1.url.utf8.count + count($1.responseHeaders) }
    }
  }
}

import PortableFoundation
import Streams

extension StubTransport {
  /// What a stub does with a request it matches.
  public struct StubbedResponse: Sendable {
    var result: @Sendable (Request) -> Result<Response, NetworkError>
    /// The head of a streamed answer, which comes before its failure.
    var head: (@Sendable (Request) -> Response)?
    /// Seconds from the request, or the last report, to the result.
    var delay: Double
    var reports: [TransferProgress] = []
    /// Seconds before each report.
    var interval: Double = 0
    /// What comes one after the other, each `interval` seconds after the one before, where the answer is streamed.
    var chunks: [Data]?
    /// What the server does, where the answer opens a socket.
    var socket: SocketScript?
    private var turns: Turns?

    init(delay: Double, result: @escaping @Sendable (Request) -> Result<Response, NetworkError>) {
      self.result = result
      self.delay = delay
    }

    /// A response of `status`, `headers` and `body`, `delay` seconds later, as if `redirects` had led to it.
    public static func response(
      status: Int = 200, headers: HTTPHeaders = [:], body: Data = Data(), redirects: [Redirect] = [],
      after delay: Double = 0
    ) -> StubbedResponse {
      StubbedResponse(delay: delay) {
        .success(Response(request: $0, status: status, headers: headers, body: body, redirects: redirects))
      }
    }

    /// JSON text, `delay` seconds later.
    public static func json(_ text: String, status: Int = 200, after delay: Double = 0) -> StubbedResponse {
      response(status: status, headers: ["Content-Type": "application/json"], body: Data(text.utf8), after: delay)
    }

    /// An error of `kind`, `delay` seconds later; it carries the request.
    public static func failure(
      _ kind: NetworkError.Kind, reason: String = "stubbed failure", after delay: Double = 0
    ) -> StubbedResponse {
      StubbedResponse(delay: delay) { .failure(NetworkError(kind: kind, reason: reason, request: $0)) }
    }

    /// No answer before the caller cancels.
    public static var never: StubbedResponse {
      StubbedResponse(delay: 1e9) { .failure(NetworkError(kind: .timeout, reason: "", request: $0)) }
    }

    /// A response whose body comes in `chunks`, each `interval` seconds after what was before; then its end, or a failure.
    ///
    /// Its head comes at once. Who does not stream it gets the whole when the last chunk is there.
    public static func chunks(
      _ chunks: [Data], every interval: Double = 0, status: Int = 200, headers: HTTPHeaders = [:],
      failing kind: NetworkError.Kind? = nil
    ) -> StubbedResponse {
      let whole = Data(chunks.joined())
      var answer =
        if let kind {
          failure(kind, after: interval * Double(chunks.count))
        } else {
          response(status: status, headers: headers, body: whole, after: interval * Double(chunks.count))
        }
      answer.head = { Response(request: $0, status: status, headers: headers) }
      answer.chunks = chunks
      answer.interval = interval
      return answer
    }

    /// One answer after the other, request by request; the last one stays. Without any, no stub matches.
    public static func sequence(_ answers: [StubbedResponse]) -> StubbedResponse {
      var answer = StubbedResponse.never
      answer.turns = Turns(answers)
      return answer
    }

    /// The same answer, which reports `progress` before its result, each report `interval` seconds after the one before.
    public func reporting(_ progress: [TransferProgress], every interval: Double = 0) -> StubbedResponse {
      var copy = self
      copy.reports = progress
      copy.interval = interval
      return copy
    }

    /// The answer whose turn it is.
    func chosen() -> StubbedResponse? {
      guard let turns else { return self }
      return turns.next()?.chosen()
    }
  }

  private final class Turns: Sendable {
    /// Taken by the stub's scheduler; the answer's closures are called behind it.
    private let left: Locked<ArraySlice<StubbedResponse>>

    init(_ answers: [StubbedResponse]) { left = Locked(answers[...]) }

    func next() -> StubbedResponse? {
      left.withLock { left in
        let first = left.first
        if left.count > 1 { left.removeFirst() }
        return first
      }
    }
  }
}

extension StubTransport {
  /// Unavailable: the type is named `StubbedResponse`.
  @available(*, unavailable, renamed: "StubbedResponse")
  public typealias Answer = StubbedResponse
}

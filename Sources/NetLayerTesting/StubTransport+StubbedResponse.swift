import NetLayer
import PortableFoundation

extension StubTransport {
  /// The response of a stub to a request that it matches.
  public struct StubbedResponse: Sendable {
    var result: @Sendable (Request) -> Result<Response, NetworkError>
    /// The head of a streamed response, which is delivered even if the response then fails.
    var head: (@Sendable (Request) -> Response)?
    /// The time from the request, or the last report, to the result.
    var delay: Duration
    var reports: [TransferProgress] = []
    /// The time before each report.
    var interval = Duration.zero
    /// The chunks of a streamed response, each `interval` after the previous one.
    var chunks: [Data]?
    /// The script of the server, if the response opens a socket.
    var socket: WebSocketScript?
    private var turns: Turns?

    init(delay: Duration, result: @escaping @Sendable (Request) -> Result<Response, NetworkError>) {
      self.result = result
      self.delay = delay
    }

    /// Returns a response with `status`, `headers`, `body`, `trailers` and `redirects`, delivered after `delay`.
    public static func response(
      status: Int = 200, headers: HTTPHeaders = [:], body: Data = Data(), trailers: HTTPHeaders = [:],
      redirects: [Response.Redirect] = [], after delay: Duration = .zero
    ) -> StubbedResponse {
      StubbedResponse(delay: delay) {
        var response = Response(request: $0, status: status, headers: headers, body: body, redirects: redirects)
        response.trailers = trailers
        return .success(response)
      }
    }

    /// Returns a JSON response, delivered after `delay`.
    public static func json(_ text: String, status: Int = 200, after delay: Duration = .zero) -> StubbedResponse {
      response(status: status, headers: ["Content-Type": "application/json"], body: Data(text.utf8), after: delay)
    }

    /// Returns an error of `kind`, delivered after `delay`. The error contains the request.
    public static func failure(
      _ kind: NetworkError.Kind, reason: String = "stubbed failure", after delay: Duration = .zero
    ) -> StubbedResponse {
      StubbedResponse(delay: delay) { .failure(NetworkError(kind: kind, reason: reason, request: $0)) }
    }

    /// Returns a stub that fails with `error`, for code that reads its `underlying` error, code or response.
    public static func failure(_ error: NetworkError, after delay: Duration = .zero) -> StubbedResponse {
      StubbedResponse(delay: delay) { request in
        var error = error
        error.request = error.request ?? request
        return .failure(error)
      }
    }

    /// A response that never arrives. The request ends when the caller cancels it.
    public static var never: StubbedResponse {
      StubbedResponse(delay: .seconds(1_000_000_000)) {
        .failure(NetworkError(kind: .timeout, reason: "", request: $0))
      }
    }

    /// Returns a response whose body arrives in `chunks`, each `interval` after the previous one, followed by
    /// its end or an error.
    ///
    /// The head arrives immediately. A caller that does not stream the response receives it after the last chunk.
    public static func chunks(
      _ chunks: [Data], every interval: Duration = .zero, status: Int = 200, headers: HTTPHeaders = [:],
      failing kind: NetworkError.Kind? = nil
    ) -> StubbedResponse {
      let whole = Data(chunks.joined())
      var stubbed =
        if let kind {
          failure(kind, after: interval * chunks.count)
        } else {
          response(status: status, headers: headers, body: whole, after: interval * chunks.count)
        }
      stubbed.head = { Response(request: $0, status: status, headers: headers) }
      stubbed.chunks = chunks
      stubbed.interval = interval
      return stubbed
    }

    /// Returns a sequence of responses, one for each request. The last one is repeated. An empty sequence matches no
    /// request.
    public static func sequence(_ responses: [StubbedResponse]) -> StubbedResponse {
      var stubbed = StubbedResponse.never
      stubbed.turns = Turns(responses)
      return stubbed
    }

    /// Returns the response with progress reports before its result, each `interval` after the previous one.
    public func reporting(_ progress: [TransferProgress], every interval: Duration = .zero) -> StubbedResponse {
      var copy = self
      copy.reports = progress
      copy.interval = interval
      return copy
    }

    /// Returns the response to use next.
    func chosen() -> StubbedResponse? {
      guard let turns else { return self }
      return turns.next()?.chosen()
    }
  }

  private final class Turns: Sendable {
    /// The remaining responses, used by the stub's scheduler. Closures of responses are called outside the lock.
    private let left: Locked<ArraySlice<StubbedResponse>>

    init(_ responses: [StubbedResponse]) { left = Locked(responses[...]) }

    func next() -> StubbedResponse? {
      left.withLock { left in
        let first = left.first
        if left.count > 1 { left.removeFirst() }
        return first
      }
    }
  }
}

import Dispatch
import Foundation
import Streams

/// A transport without a network: answers from a closure or a table, for tests and previews.
///
/// Completions are called on a serial queue of its own, as a real transport's are.
public final class StubTransport: Transport {
  /// What a stub does with a request it matches.
  public struct Answer: Sendable {
    let result: @Sendable (Request) -> Result<Response, NetworkError>
    let delay: Double

    /// A response of `status`, `headers` and `body`, `delay` seconds later.
    public static func response(
      status: Int = 200, headers: HTTPHeaders = [:], body: Data = Data(), after delay: Double = 0
    ) -> Answer {
      Answer(
        result: { .success(Response(request: $0, status: status, headers: headers, body: body)) }, delay: delay)
    }

    /// JSON text, `delay` seconds later.
    public static func json(_ text: String, status: Int = 200, after delay: Double = 0) -> Answer {
      response(status: status, headers: ["Content-Type": "application/json"], body: Data(text.utf8), after: delay)
    }

    /// An error of `kind`, `delay` seconds later; it carries the request.
    public static func failure(
      _ kind: NetworkError.Kind, reason: String = "stubbed failure", after delay: Double = 0
    ) -> Answer {
      Answer(result: { .failure(NetworkError(kind: kind, reason: reason, request: $0)) }, delay: delay)
    }
  }

  /// Which requests a stub answers, and how.
  public struct Stub: Sendable {
    let method: HTTPMethod?
    let path: String
    let answer: Answer

    /// Answers requests for `path` (without the query); a `method` of `nil` takes any.
    public init(_ method: HTTPMethod?, _ path: String, _ answer: Answer) {
      self.method = method
      self.path = path
      self.answer = answer
    }

    func matches(_ request: Request) -> Bool {
      (method == nil || method == request.method) && request.url.path == path
    }
  }

  /// A completion that is called once.
  private final class Pending: Sendable {
    private let completion: Locked<(@Sendable (Result<Response, NetworkError>) -> Void)?>

    init(_ completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void) {
      self.completion = Locked(completion)
    }

    func finish(_ result: Result<Response, NetworkError>) {
      let taken = completion.withLock { stored in
        let taken = stored
        stored = nil
        return taken
      }
      taken?(result)
    }
  }

  private let queue = DispatchQueue(label: "NetLayer.StubTransport")
  private let answer: @Sendable (Request) -> Answer?
  private let sent = Locked<[Request]>([])

  /// Answers with what `answer` returns; a request it returns `nil` for fails with an error that names it.
  public init(_ answer: @escaping @Sendable (Request) -> Answer?) { self.answer = answer }

  /// Answers from `stubs`; the first that matches counts.
  public convenience init(_ stubs: [Stub]) {
    self.init { request in stubs.first { $0.matches(request) }?.answer }
  }

  /// Every request sent so far, in order.
  public var requests: [Request] { sent.withLock { $0 } }

  /// Answers `request`; see `Transport.send`.
  public func send(
    _ request: Request, completion: @escaping @Sendable (Result<Response, NetworkError>) -> Void
  ) -> any Disposable {
    sent.withLock { $0.append(request) }
    let shared = Pending(completion)
    queue.async { [answer, queue] in
      if let refusal = RequestCheck.failure(of: request, url: request.url.absoluteString) {
        shared.finish(.failure(refusal))
        return
      }
      guard let answer = answer(request) else {
        let reason = "no stub matches \(request.method) \(request.url.absoluteString); add one to the StubTransport"
        shared.finish(.failure(NetworkError(kind: .connection, reason: reason, request: request)))
        return
      }
      guard answer.delay > 0 else {
        shared.finish(answer.result(request))
        return
      }
      queue.asyncAfter(deadline: .now() + answer.delay) { shared.finish(answer.result(request)) }
    }
    return Disposables.create { [queue] in
      queue.async {
        let reason = "the caller cancelled the request"
        shared.finish(.failure(NetworkError(kind: .cancelled, reason: reason, request: request)))
      }
    }
  }
}

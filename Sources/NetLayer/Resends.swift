import HTTPTransport
import Synchronization

/// The number of requests that a call of a network with observers has passed to the transport, and its place among them.
/// `Request.attempt` limits retries, and counts nothing else.
struct Resends: ContextKey, Sendable {
  static var defaultValue: Resends? { nil }

  final class Count: Sendable {
    /// Guards only itself. The requests of a call are counted on the threads that send them.
    let value = Atomic(0)
  }

  private let count: Count
  /// The number of requests before this one; `nil` for a request that was not passed to the transport.
  private var before: Int?
  /// The time when it was passed.
  private(set) var time = Duration.zero

  init() { (count, before) = (Count(), nil) }

  /// Whether the note belongs to a request that was sent, and not to a call that begins.
  var isOfSentRequest: Bool { before != nil }

  func next(at time: Duration) -> Resends {
    var note = self
    note.time = time
    note.before = count.value.wrappingAdd(1, ordering: .relaxed).oldValue
    return note
  }

  /// Counts the requests that the transport has sent itself.
  func add(redirects: Int) { if redirects > 0 { count.value.wrappingAdd(redirects, ordering: .relaxed) } }

  /// Returns the number of requests before this one and its redirects. For a request that was not sent, it is the number before
  /// the last one of the call, or before the next one if `isNext`.
  func number(redirects: Int, isNext: Bool) -> Int {
    if let before { return before + redirects }
    let sends = count.value.load(ordering: .relaxed)
    return isNext ? sends : max(0, sends - 1)
  }
}

extension Request {
  func counted(at time: Duration) -> Request {
    guard let note = context[Resends.self] else { return self }
    var request = self
    request.context[Resends.self] = note.next(at: time)
    return request
  }

  /// Returns the number of requests that the call had sent before; `nil` for a call without observers.
  func resends(redirects: Int = 0, isNext: Bool = false) -> Int? {
    context[Resends.self]?.number(redirects: redirects, isNext: isNext)
  }
}

extension Response {
  /// The number of requests that the call had sent before that of this response, redirects included.
  var resends: Int? { request.resends(redirects: redirects.count) }
}

extension NetworkError {
  /// The same for the request that failed.
  var resends: Int? { request?.resends(redirects: metrics?.redirects ?? 0) }
}

extension Result<Response, NetworkError> {
  /// The number of redirects that the transport has followed.
  var redirectCount: Int {
    switch self {
    case .success(let response): response.redirects.count
    case .failure(let error): error.metrics?.redirects ?? 0
    }
  }
}

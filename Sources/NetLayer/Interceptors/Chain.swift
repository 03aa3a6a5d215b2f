import Streams

/// The rest of the chain after an interceptor: the next interceptor or, finally, the transport.
public struct Chain: Sendable {
  let interceptors: ArraySlice<any Interceptor>
  /// The scheduler on which an interceptor emits its own responses.
  let mapping: any ImmediateSchedulerType
  let send: @Sendable (Request) -> Observable<Response>

  /// Sends `request` to the rest of the chain at each subscription; two subscriptions send it twice.
  public func callAsFunction(_ request: Request) -> Observable<Response> {
    guard let first = interceptors.first else { return send(request) }
    return first.intercept(request, next: Chain(interceptors: interceptors.dropFirst(), mapping: mapping, send: send))
  }
}

import Streams

/// What follows behind an interceptor: the next one, at last the transport.
public struct Chain: Sendable {
  let interceptors: ArraySlice<any Interceptor>
  /// Where an interceptor that answers by itself emits.
  let mapping: any ImmediateSchedulerType
  let send: @Sendable (Request) -> Observable<Response>

  /// Goes on with `request`, at each subscription: two subscriptions send it twice.
  public func callAsFunction(_ request: Request) -> Observable<Response> {
    guard let first = interceptors.first else { return send(request) }
    return first.intercept(request, next: Chain(interceptors: interceptors.dropFirst(), mapping: mapping, send: send))
  }
}

import Streams

/// The rest of the chain after an interceptor: the next interceptor or, finally, the transport.
public struct Chain: Sendable {
  let interceptors: ArraySlice<any Interceptor>
  let answering: Answering
  let send: @Sendable (Request) -> Observable<Response>

  /// Sends `request` to the rest of the chain at each subscription; two subscriptions send it twice.
  public func callAsFunction(_ request: Request) -> Observable<Response> {
    guard let first = interceptors.first else { return send(request) }
    return first.intercept(
      request, next: Chain(interceptors: interceptors.dropFirst(), answering: answering, send: send))
  }

  /// The scheduler on which an interceptor emits its own responses.
  var mapping: any ImmediateSchedulerType { answering.mapping }

  /// The means with which an interceptor emits its own responses; the same object for all calls of a network.
  final class Answering: Sendable {
    let mapping: any ImmediateSchedulerType
    /// A function that runs work on the mapping queue, `mapping`.
    let runOnMappingQueue: @Sendable (@escaping @Sendable () -> Void) -> Void
    /// The initial context of a response. The pipeline copies a response of another context, to add its own values.
    let context: Context
    /// The transport at the end of the chain.
    let transport: TransportIdentity

    init(mapping: any ImmediateSchedulerType, context: Context, transport: TransportIdentity) {
      (self.mapping, self.context, self.transport) = (mapping, context, transport)
      runOnMappingQueue = mapping.submit
    }
  }
}

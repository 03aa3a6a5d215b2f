import Streams

/// A step between a network and its transport, which observes, changes, retries or responds to requests.
///
/// `Backend.interceptors` run in order: the first is the outermost, so it sees a request first and its response last.
/// The signer and the transport follow the last interceptor, so requests arrive built and without a signature. An
/// unsuccessful status is not yet an error. Use the interceptors of this package in this order, and omit those that you
/// don't need:
///
/// 1. ``CoalescingInterceptor``: shares identical requests.
/// 2. ``CacheInterceptor``: responds from the cache.
/// 3. ``ReachabilityInterceptor``: waits while there is no network.
/// 4. ``RetryInterceptor``: retries the steps below.
/// 5. ``TraceInterceptor``: makes each attempt a span of the caller's trace.
/// 6. ``AuthenticationInterceptor``: adds the newest token to each attempt.
/// 7. ``LimitInterceptor``: limits the requests that reach the transport.
///
/// A ``CallObserver``, such as ``NetworkLogger`` or a recorder of the module NetLayerRecording, observes the whole path of a call at
/// any position. An interceptor that adds credentials of a user is an ``AccountSource``, and passes them
/// to ``InterceptorChain/callAsFunction(_:with:)``.
public protocol Interceptor: Sendable {
  /// Returns the responses to `request`, usually the ones that `next` emits.
  ///
  /// It is called once per subscription, on the subscribing thread, and again for each retry, after the delay. It must
  /// not block. Responses of `next` arrive on the backend's `mapping` scheduler. Calls that are streams emit every
  /// response; the result of a single is the last response.
  func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response>
  /// Records values of the calling context, such as task-locals, in `request.context`. It does nothing by default.
  ///
  /// It is called once per call, before `intercept` of any interceptor, on the subscribing thread. It must not block.
  /// Retries start on other threads, where the caller's task-locals have no values. So do the pages of a list, reconnections,
  /// and the requests of an upload: they share the values of their first one, which has only the endpoint's URL, fields and
  /// context when this is called.
  func captureContext(into request: inout Request)
}

/// An interceptor that only decides whether, when and how often a request is sent. A request that is only prepared bypasses it.
package protocol SendingInterceptor: Interceptor {}

extension Interceptor {
  /// Records nothing.
  public func captureContext(into request: inout Request) {}
}

import Streams

/// The one way of a call: build → interceptors → transport → hop → report once. Decoding and delivery follow in the
/// operators behind it.
struct CallPipeline: Sendable {
  /// How its answers are read.
  var reading: ResponseContext
  /// The same as the whole context of a response.
  var context: Context
  var activity: Activity
  var transport: any Transport
  var mapping: any ImmediateSchedulerType
  var interceptors: [any Interceptor]
  var progress: ProgressHandler?
  /// `Timeouts.call` of the request, in seconds; 0 for none.
  var callLimit: Double

  /// The response to the request that `build` makes at each subscription: the last that the interceptors give.
  func response(_ build: @escaping @Sendable () throws -> Request) -> Single<Response> {
    responses(isSingle: true, build).lastAsSingle()
  }

  /// Every response that the interceptors give to the request that `build` makes at each subscription: a cache may give
  /// its own before the network's.
  ///
  /// - Parameter isSingle: whether only the last is wanted, so that none is provisional.
  func responses(
    isSingle: Bool = false, _ build: @escaping @Sendable () throws -> Request
  ) -> Observable<Response> {
    let pipeline = self
    return Observable(push: { subscription, next in
      var request: Request
      do {
        request = try build()
      } catch {
        return pipeline.fail(subscription, error)
      }
      pipeline.note(on: &request)
      // Behind all interceptors: what a retry saves is no error.
      let scope = HandlerScope(subscription) { error in
        subscription.finish(error.map { pipeline.reading.report($0) })
      }
      pipeline.exchanges(request).run(scope) { response in
        var response = response
        // The exchange may be shared with another back end's call, or made up by an interceptor.
        pipeline.mark(&response)
        if isSingle, let cached = response.cached, cached.isProvisional { response.cached = cached.asLast }
        subscription.deliver(response, to: next)
      }
    })
  }

  private func exchanges(_ request: Request) -> Observable<Response> {
    let chain = Chain(interceptors: interceptors[...], mapping: mapping) { request in
      guard let signature = request.context[Signing.AwaitedSignature.self] else { return transmission(request) }
      return signature.sign(request).asObservable().flatMap { transmission($0) }
    }
    return limited(chain(request), request)
  }

  private func transmission(_ request: Request) -> Observable<Response> {
    Observable(push: { subscription, next in Transmission(request, self, subscription, next).start() })
  }

  /// Fails `exchanges` when the whole call has taken too long.
  private func limited(_ exchanges: Observable<Response>, _ request: Request) -> Observable<Response> {
    let limit = callLimit
    // A limit of many years is none, and more than a `Duration` may hold.
    guard limit > 0, limit < 1e9 else { return exchanges }
    let scheduler = mapping as? any SchedulerType ?? ConcurrentDispatchQueueScheduler(qos: .utility)
    let end = Observable<Int>.timer(.seconds(limit), scheduler: scheduler).map { _ in
      throw NetworkError(
        kind: .timeout,
        reason:
          "the call to \(request.url.hostAndPort) had no result after \(limit) s (Timeouts.call, with all attempts "
          + "and pauses); raise it or look at the server", request: request)
    }
    return exchanges.takeUntil(end)
  }

  /// Where the call's results would arrive, so does what keeps it from being sent.
  private func fail(_ subscription: Subscription, _ error: any Error) {
    subscription.ownUntilRun { leave in
      mapping.schedule {
        leave()
        subscription.fail(reading.report(reading.translated(NetworkError.wrapping(error))))
      }
    }
  }

  /// Notes on a request what is so at this subscription. What an earlier call has noted on it, where it is sent again as it
  /// was, counts no more.
  private func note(on request: inout Request) {
    let isPartOfRefresh = AuthenticationInterceptor.isRefreshing
    if request.context[ReportsProgress.self] != (progress != nil) {
      request.context[ReportsProgress.self] = progress != nil
    }
    if request.context[IsPartOfRefresh.self] != isPartOfRefresh {
      request.context[IsPartOfRefresh.self] = isPartOfRefresh
    }
    if !request.context[Authentication.self].isEmpty { request.context[Authentication.self] = [] }
  }

  /// Notes on a response how it is read; one without other notes shares the context, which costs nothing.
  func mark(_ response: inout Response) {
    if response.context.isEmpty {
      response.context = context
    } else if response.context[ResponseContext.self] !== reading {
      response.context[ResponseContext.self] = reading
    }
  }
}

import Streams

/// The way of one call: build, interceptors, transport, mapping scheduler.
struct Sender: Sendable {
  var rules: Rules
  var activity: Activity
  var transport: any Transport
  var mapping: any ImmediateSchedulerType
  var interceptors: [any Interceptor]
  var progress: (@Sendable (TransferProgress) -> Void)?
  /// `Timeouts.call` of the request, in seconds; 0 for none.
  var callLimit: Double

  /// Whether nothing stands between the call and the transport.
  private var isDirect: Bool { interceptors.isEmpty && !isLimited }

  /// A limit of many years is none, and more than a `Duration` may hold.
  private var isLimited: Bool { callLimit > 0 && callLimit < 1e9 }

  /// The answer to the request that `build` makes at each subscription: the last that the interceptors give.
  func response(_ build: @escaping @Sendable () throws -> Request) -> Single<Response> {
    guard isDirect else { return exchanges(build, isSingle: true, sending: sending).lastAsSingle() }
    return rules.handlesErrors ? reporting(direct(build) { $0 }.asObservable()).asSingle() : direct(build) { $0 }
  }

  /// Every answer that the interceptors give to the request that `build` makes at each subscription: a cache may give its
  /// own before the network's.
  func responses(_ build: @escaping @Sendable () throws -> Request) -> Observable<Response> {
    guard isDirect else { return exchanges(build, sending: sending) }
    let response = direct(build) { $0 }.asObservable()
    return rules.handlesErrors ? reporting(response) : response
  }

  private func sending(_ request: Request) -> Observable<Exchange> {
    direct({ request }, { Exchange(request: $0.request, response: $0) }).asObservable()
  }

  /// What the interceptors make of the request that `build` makes, with `sending` behind the last of them. One scope for
  /// all that the network itself has to do with it; errors are reported behind all interceptors: what a retry saves is none.
  ///
  /// - Parameter isSingle: whether only the last is wanted, so that none is there for the time being.
  func exchanges(
    _ build: @escaping @Sendable () throws -> Request, isSingle: Bool = false,
    sending: @escaping @Sendable (Request) -> Observable<Exchange>
  ) -> Observable<Response> {
    let sender = self
    return Observable(push: { subscription, next in
      let rules = sender.rules
      var request: Request
      do {
        request = try build()
      } catch {
        return subscription.fail(NetworkError.wrapping(error).ruled(by: rules).reported(to: rules))
      }
      request.reportsProgress = sender.progress != nil
      request.isPartOfRefresh = AuthenticationInterceptor.isRefreshing
      let scope = HandlerScope(subscription) { error in
        subscription.finish(error.map { NetworkError.wrapping($0, rules: rules).owned(by: rules).reported(to: rules) })
      }
      let chain = Chain(interceptors: sender.interceptors[...], mapping: sender.mapping, send: sending)
      sender.limited(chain(request), request).run(scope) { exchange in
        var response = exchange.response
        // The exchange may be shared with another back end's call, or made up by an interceptor.
        response.rules = rules
        if isSingle, let cached = response.cached, cached.isProvisional { response.cached = cached.asLast }
        subscription.deliver(response, to: next)
      }
    })
  }

  /// Fails `exchanges` when the whole call has taken too long.
  private func limited(_ exchanges: Observable<Exchange>, _ request: Request) -> Observable<Exchange> {
    guard isLimited else { return exchanges }
    let limit = callLimit
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

  /// Hands the failure of a call to the back end's handlers.
  private func reporting(_ responses: Observable<Response>) -> Observable<Response> {
    responses.mapError { [rules] in NetworkError.wrapping($0, rules: rules).reported(to: rules) }
  }

  /// Without interceptors. The one hop is off the transport's thread, which must not stall, and off the caller's, which
  /// may be the main one.
  private func direct<Answer: Sendable>(
    _ build: @escaping @Sendable () throws -> Request, _ make: @escaping @Sendable (Response) -> Answer
  ) -> Single<Answer> {
    guard let progress else {
      return Single.create { observer in
        start(build, nil) { observer($0.map(make)) }
      }
      .observeOn(mapping)
    }
    // Progress and result go over the same hop: no report comes behind the result.
    return Observable<Transfer<Response>>.create { observer in
      start(build, { observer.onNext(.progress($0)) }) { event in
        switch event {
        case .success(let response):
          observer.onNext(.result(response))
          observer.onCompleted()
        case .error(let error): observer.onError(error)
        }
      }
    }
    .observeOn(mapping)
    .compactMap { transfer -> Answer? in
      switch transfer {
      case .progress(let value):
        progress(value)
        return nil
      case .result(let response): return make(response)
      }
    }
    .asSingle()
  }

  private func start(
    _ build: () throws -> Request, _ progress: (@Sendable (TransferProgress) -> Void)?,
    _ observer: @escaping @Sendable (SingleEvent<Response>) -> Void
  ) -> any Disposable {
    let rules = rules
    do {
      let request = try build().readyToSend()
      let flight = activity.begin()
      let measured = request.chosenOptions?.value.measured
      let finish: @Sendable (Result<Response, NetworkError>) -> Void = { result in
        flight.dispose()
        if let measured { result.metrics.map(measured) }
        switch result {
        case .success(var response):
          response.rules = rules
          do {
            try response.saveIfAsked()
            observer(.success(response))
          } catch {
            observer(.error(NetworkError.wrapping(error).ruled(by: rules)))
          }
        case .failure(let error):
          observer(.error(error.ruled(by: rules)))
        }
      }
      let sent =
        if let progress {
          transport.send(request, progress: progress, completion: finish)
        } else {
          transport.send(request, completion: finish)
        }
      return Disposables.create(sent, flight)
    } catch {
      observer(.error(NetworkError.wrapping(error).ruled(by: rules)))
      return Disposables.create()
    }
  }
}

extension Result<Response, NetworkError> {
  /// What the transport measured, however it ended.
  var metrics: TransferMetrics? {
    switch self {
    case .success(let response): response.metrics
    case .failure(let error): error.metrics
    }
  }
}

extension Response {
  /// Writes the body to the request's destination where the transport has not done so itself, as stubs and transports of
  /// users may not.
  fileprivate mutating func saveIfAsked() throws {
    guard let destination = request.destination, file == nil, (200...299).contains(status) else { return }
    let download = try DownloadFile(destination)
    guard body.withUnsafeBytes({ download.append($0) }) else {
      throw NetworkError(kind: .file, reason: download.failure ?? "the file can't be written", response: self)
    }
    try download.complete()
    file = destination
    body = .init()
  }
}

extension SingleEvent {
  fileprivate func map<Other>(_ make: (Element) -> Other) -> SingleEvent<Other> {
    switch self {
    case .success(let element): .success(make(element))
    case .error(let error): .error(error)
    }
  }
}

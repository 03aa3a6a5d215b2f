import NetLayer
import Streams
import Synchronization
import Tracing

/// An interceptor that creates a client span for each request and injects its context into the header fields.
///
/// ```swift
/// Backend(baseURL: url, interceptors: [RetryInterceptor(), TracingInterceptor()])
/// ```
/// After `RetryInterceptor`, each attempt has a separate span, whose parent is the caller's span. Spans follow
/// OpenTelemetry's semantic conventions for HTTP clients.
public struct TracingInterceptor: Interceptor {
  private let tracer: (any Tracer)?
  private let redaction: Redaction

  /// Creates an interceptor.
  ///
  /// - Parameters:
  ///   - tracer: The tracer that creates the spans; by default the system's.
  ///   - redaction: The rules that replace secrets in URLs.
  public init(tracer: (any Tracer)? = nil, redaction: Redaction = .standard) {
    self.tracer = tracer
    self.redaction = redaction
  }

  /// Stores the caller's context, which is not available to later attempts.
  public func prepare(_ request: inout Request) {
    request.context[CallersContext.self] = ServiceContext.current
  }

  /// Sends `request` within a span.
  public func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    let redaction = redaction
    let tracer = tracer ?? InstrumentationSystem.tracer
    return Observable.deferred {
      let span = tracer.startAnySpan(
        request.method.rawValue, context: request.context[CallersContext.self] ?? .topLevel, ofKind: .client)
      note(.started(request), on: span)
      var sent = request
      tracer.inject(span.context, into: &sent.headers, using: HeaderInjector())
      // Ends the span once: before the result is delivered, or when the caller cancels.
      let isOver = Atomic(false)
      @Sendable func end() { if !isOver.exchange(true, ordering: .relaxed) { span.end() } }
      return next(sent).do(
        onNext: { response in
          note(.received(response, after: .zero), on: span)
          if response.status >= 400 { span.setStatus(.init(code: .error)) }
        },
        onError: { error in
          let error = error as? NetworkError ?? NetworkError(kind: .other, reason: "\(error)", underlying: error)
          note(.failed(request, error, after: .zero), on: span)
          span.setStatus(.init(code: .error, message: redaction.redacted("\(error)")))
          end()
        },
        onCompleted: end, onDispose: end)
    }
  }

  private func note(_ event: EventMonitor.Event, on span: any Span) {
    for (name, value) in event.attributes(redaction: redaction) {
      if let text = value.string {
        span.attributes[name] = text
      } else if let number = value.int {
        span.attributes[name] = number
      }
    }
  }
}

private enum CallersContext: ContextKey {
  static let defaultValue: ServiceContext? = nil
}

private struct HeaderInjector: Injector {
  func inject(_ value: String, forKey key: String, into carrier: inout HTTPHeaders) { carrier[key] = value }
}

import NetLayer
import Streams
import Tracing

/// An interceptor that creates a client span for each request and injects its context into the header fields.
///
/// ```swift
/// Backend(baseURL: url, interceptors: [RetryInterceptor(), TracingInterceptor()])
/// ```
/// After `RetryInterceptor`, each attempt has a separate span, whose parent is the caller's span. Spans follow
/// OpenTelemetry's semantic conventions for HTTP clients.
public struct TracingInterceptor: CallObserver {
  private let tracer: (any Tracer)?
  private let redaction: Redaction

  /// Creates an interceptor.
  ///
  /// - Parameters:
  ///   - tracer: The tracer that creates the spans; by default the system's.
  ///   - redaction: The secrets to hide in URLs, in addition to those of the backend.
  public init(tracer: (any Tracer)? = nil, redaction: Redaction = .backend) {
    self.tracer = tracer
    self.redaction = redaction
  }

  /// Stores the caller's context, which is not available to later attempts.
  public func prepare(_ request: inout Request) {
    request.context[CallersContext.self] = ServiceContext.current
  }

  /// Sends `request` within a span.
  public func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    let tracer = tracer ?? InstrumentationSystem.tracer
    return Observable.deferred {
      let span = tracer.startAnySpan(
        request.method.rawValue, context: request.context[CallersContext.self] ?? .topLevel, ofKind: .client)
      var sent = request
      tracer.inject(span.context, into: &sent.headers, using: HeaderInjector())
      // The monitor reports the end once: before the result is delivered, or when the caller cancels.
      return EventMonitor { event in record(event, on: span) }.intercept(sent, next: next)
    }
  }

  /// Does nothing. Only calls with an observer count how often they were sent, for `http.request.resend_count`.
  public func observe(_ event: CallEvent) {}

  private func record(_ event: EventMonitor.Event, on span: any Span) {
    // The events of the end carry the metrics.
    guard event.kind != .measured else { return }
    for (name, value) in event.attributes(redaction: redaction) {
      if let text = value.string {
        span.attributes[name] = text
      } else if let number = value.int {
        span.attributes[name] = number
      }
    }
    if let error = event.error {
      span.setStatus(.init(code: .error, message: redaction.redacted("\(error)")))
    } else if let response = event.response, response.status >= 400 {
      span.setStatus(.init(code: .error))
    }
    if event.kind != .started { span.end() }
  }
}

private enum CallersContext: ContextKey {
  static let defaultValue: ServiceContext? = nil
}

private struct HeaderInjector: Injector {
  func inject(_ value: String, forKey key: String, into carrier: inout HTTPHeaders) { carrier[key] = value }
}

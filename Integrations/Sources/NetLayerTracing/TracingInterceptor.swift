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
public struct TracingInterceptor: CallObserver {
  private let tracer: (any Tracer)?
  private let redaction: Redaction

  /// Creates an interceptor.
  ///
  /// - Parameters:
  ///   - tracer: The tracer that creates the spans; by default the system's.
  ///   - redaction: The secrets to hide in URLs, in addition to those of the backend.
  public init(tracer: (any Tracer)? = nil, redaction: Redaction = .inherited) {
    self.tracer = tracer
    self.redaction = redaction
  }

  /// Stores the caller's context, which is not available to later attempts.
  public func captureContext(into request: inout Request) {
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
      sent.context[SpanOfRequest.self] = span
      let end = OneEnd(span)
      return next(sent).do(
        // Before the result is delivered. The head of a stream ends the span.
        onNext: { _ in end() },
        onError: { error in
          span.setStatus(.init(code: .error, message: request.redaction(adding: redaction).redacted("\(error)")))
          end()
        }, onDispose: { end() })
    }
  }

  /// Records the attributes of a request that is sent, and of its end.
  public func observe(_ event: CallEvent) {
    guard [.sent, .head, .finished].contains(event.kind), let span = event.request.context[SpanOfRequest.self] else {
      return
    }
    for (name, value) in event.attributes(redaction: redaction) {
      if let text = value.string {
        span.attributes[name] = text
      } else if let number = value.int {
        span.attributes[name] = number
      }
    }
    if let response = event.response, response.status >= 400 { span.setStatus(.init(code: .error)) }
  }
}

/// The end of a span, once: by the result, or by the caller who cancels.
private final class OneEnd: Sendable {
  private let span: any Span
  private let isOver = Atomic(false)

  init(_ span: any Span) { self.span = span }

  func callAsFunction() {
    if isOver.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged { span.end() }
  }
}

private enum SpanOfRequest: ContextKey {
  static var defaultValue: (any Span)? { nil }
}

private enum CallersContext: ContextKey {
  static let defaultValue: ServiceContext? = nil
}

private struct HeaderInjector: Injector {
  func inject(_ value: String, forKey key: String, into carrier: inout HTTPHeaders) { carrier[key] = value }
}

import Metrics
import NetLayer

extension EventMonitor {
  /// Records requests under OpenTelemetry's metric names.
  ///
  /// - `http.client.request.duration`, a timer with the dimensions method, server, status and error type.
  /// - `http.client.active_requests`, a meter with the dimensions method and server.
  /// - `http.client.request.cancelled`, a counter, because the duration of a cancelled request is not comparable.
  ///
  /// - Parameter factory: The factory of the metrics; by default the system's, which may be bootstrapped later.
  public static func metrics(_ factory: (any MetricsFactory)? = nil) -> EventMonitor {
    EventMonitor { event in
      // It adds nothing to the metrics, and attributes take time.
      guard event.kind != .measured else { return }
      let factory = factory ?? MetricsSystem.factory
      let all = event.attributes()
      func dimensions(_ names: [String]) -> [(String, String)] {
        names.compactMap { name in all[name].map { (name, $0.string ?? "\($0)") } }
      }
      let server = dimensions(["http.request.method", "server.address", "server.port"])
      func active() -> Meter { Meter(label: "http.client.active_requests", dimensions: server, factory: factory) }
      func record(_ duration: Duration) {
        Timer(
          label: "http.client.request.duration",
          dimensions: server + dimensions(["http.response.status_code", "error.type"]), factory: factory
        ).record(duration: duration)
        active().decrement()
      }
      switch event.kind {
      case .started: active().increment()
      case .received, .failed: if let duration = event.duration { record(duration) }
      case .cancelled:
        Counter(label: "http.client.request.cancelled", dimensions: server, factory: factory).increment()
        active().decrement()
      default: break
      }
    }
  }
}

import Metrics
import NetLayer

extension CallEventHandler {
  /// Records the requests that are sent under OpenTelemetry's metric names.
  ///
  /// - `http.client.request.duration`, a timer with the dimensions method, server, status and error type.
  /// - `http.client.active_requests`, a meter with the dimensions method and server.
  /// - `http.client.request.cancelled`, a counter, because the duration of a cancelled request is not comparable.
  ///
  /// Each retry counts, and cached responses do not. An open WebSocket is an active request, and has no duration.
  ///
  /// - Parameter factory: The factory of the metrics; by default the system's, which may be bootstrapped later.
  public static func metrics(_ factory: (any MetricsFactory)? = nil) -> CallEventHandler {
    CallEventHandler { event in
      // The others add nothing to the metrics, and attributes take time.
      guard [.sent, .finished, .closed].contains(event.kind) else { return }
      let factory = factory ?? MetricsSystem.factory
      let all = event.attributes()
      func dimensions(_ names: [String]) -> [(String, String)] {
        names.compactMap { name in all[name].map { (name, $0.string ?? "\($0)") } }
      }
      let server = dimensions(["http.request.method", "server.address", "server.port"])
      let active = Meter(label: "http.client.active_requests", dimensions: server, factory: factory)
      if event.kind == .sent { return active.increment() }
      active.decrement()
      if event.error?.kind == .cancelled {
        Counter(label: "http.client.request.cancelled", dimensions: server, factory: factory).increment()
      } else if event.kind == .finished, let duration = event.duration {
        Timer(
          label: "http.client.request.duration",
          dimensions: server + dimensions(["http.response.status_code", "error.type"]), factory: factory
        ).record(duration: duration)
      }
    }
  }
}

import GatewayServer
import GatewayTelemetry
import Hummingbird
import Metrics
import NetLayer
import Tracing

let settings = try Settings()
let transport = try CurlTransport(.init(maxConnectionsPerHost: settings.connections, maxConnections: .max))
let gateway = Gateway(NetLayerUpstreams(settings, transport: transport), settings)

if settings.isPlain {
  try await gateway.run()
} else {
  // In your own service: swift-prometheus and swift-otel.
  let metrics = MetricsText()
  MetricsSystem.bootstrap(metrics)
  InstrumentationSystem.bootstrap(SpanLog(settings.logger("spans")))
  try await gateway.run { router in
    router.get("metrics") { _, _ in metrics.text }
    router.addMiddleware {
      TracingMiddleware()
      MetricsMiddleware()
    }
  }
}
await transport.shutdownAndWait()

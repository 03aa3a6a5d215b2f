// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Gateway",
  platforms: [.macOS(.v15)],
  // In your own package: .package(url: "<the URL of the repository>", branch: "main")
  dependencies: [
    .package(name: "NetLayer", path: "../.."),
    .package(name: "NetLayerIntegrations", path: "../../Integrations"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.0.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.80.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.4.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.2.0"),
    // For the comparison only.
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
  ],
  targets: [
    // The service.
    .executableTarget(
      name: "Gateway",
      dependencies: [
        "GatewayServer", "GatewayTelemetry",
        .product(name: "NetLayer", package: "NetLayer"),
        .product(name: "NetLayerLogging", package: "NetLayerIntegrations"),
        .product(name: "NetLayerMetrics", package: "NetLayerIntegrations"),
        .product(name: "NetLayerTracing", package: "NetLayerIntegrations"),
      ]),
    // The part of the service that knows nothing of its HTTP client: routes, deadlines, errors, shutdown.
    .target(
      name: "GatewayServer",
      dependencies: [
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HummingbirdCore", package: "hummingbird"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),
    // Stand-ins for swift-prometheus and swift-otel.
    .target(
      name: "GatewayTelemetry",
      dependencies: [
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Metrics", package: "swift-metrics"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
      ]),
    // The same service with another client, for the comparison.
    .executableTarget(
      name: "GatewayWithAsyncHTTPClient",
      dependencies: [
        "GatewayServer", .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOFoundationCompat", package: "swift-nio"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)

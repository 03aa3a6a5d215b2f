// swift-tools-version: 6.2
import PackageDescription

// Adapters to packages that servers use. NetLayer itself depends on none of them.
let package = Package(
  name: "NetLayerIntegrations",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "NetLayerHTTPTypes", targets: ["NetLayerHTTPTypes"]),
    .library(name: "NetLayerLogging", targets: ["NetLayerLogging"]),
    .library(name: "NetLayerMetrics", targets: ["NetLayerMetrics"]),
    .library(name: "NetLayerTracing", targets: ["NetLayerTracing"]),
  ],
  dependencies: [
    .package(name: "NetLayer", path: ".."),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.4.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.2.0"),
  ],
  targets: [
    .target(
      name: "NetLayerHTTPTypes",
      dependencies: [
        .product(name: "NetLayer", package: "NetLayer"), .product(name: "HTTPTypes", package: "swift-http-types"),
      ]),
    .target(
      name: "NetLayerLogging",
      dependencies: [
        .product(name: "NetLayer", package: "NetLayer"), .product(name: "Logging", package: "swift-log"),
      ]),
    .target(
      name: "NetLayerMetrics",
      dependencies: [
        .product(name: "NetLayer", package: "NetLayer"), .product(name: "Metrics", package: "swift-metrics"),
      ]),
    .target(
      name: "NetLayerTracing",
      dependencies: [
        .product(name: "NetLayer", package: "NetLayer"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
      ]),
    .testTarget(
      name: "IntegrationTests",
      dependencies: [
        "NetLayerHTTPTypes", "NetLayerLogging", "NetLayerMetrics", "NetLayerTracing",
        .product(name: "NetLayerTesting", package: "NetLayer"),
        .product(name: "MetricsTestKit", package: "swift-metrics"),
        .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)

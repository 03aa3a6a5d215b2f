// swift-tools-version: 6.2
import PackageDescription

// With OPENAPI_STAND_IN=1, the folder StandIn takes the place of swift-openapi-runtime, so that the adapter can be compiled and
// tested where that package cannot be fetched.
let usesStandIn = Context.environment["OPENAPI_STAND_IN"] == "1"
let runtime: Target.Dependency =
  usesStandIn ? "OpenAPIRuntime" : .product(name: "OpenAPIRuntime", package: "swift-openapi-runtime")

// A separate package, so that users of the other adapters need not fetch swift-openapi-runtime.
let package = Package(
  name: "NetLayerOpenAPI",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [.library(name: "NetLayerOpenAPI", targets: ["NetLayerOpenAPI"])],
  dependencies: [
    .package(name: "NetLayer", path: "../.."),
    .package(name: "NetLayerIntegrations", path: ".."),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.4.0"),
  ] + (usesStandIn ? [] : [.package(url: "https://github.com/apple/swift-openapi-runtime", from: "1.0.0")]),
  targets: [
    .target(
      name: "NetLayerOpenAPI",
      dependencies: [
        .product(name: "NetLayer", package: "NetLayer"),
        .product(name: "NetLayerHTTPTypes", package: "NetLayerIntegrations"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        runtime,
      ]),
    .testTarget(
      name: "NetLayerOpenAPITests",
      dependencies: [
        "NetLayerOpenAPI",
        .product(name: "NetLayerTesting", package: "NetLayer"),
      ]),
  ]
    + (usesStandIn
      ? [
        .target(
          name: "OpenAPIRuntime", dependencies: [.product(name: "HTTPTypes", package: "swift-http-types")],
          path: "StandIn")
      ] : []),
  swiftLanguageModes: [.v6]
)

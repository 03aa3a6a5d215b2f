// swift-tools-version: 6.0
import PackageDescription

let package = Package(
  name: "NetLayer",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "Streams", targets: ["Streams"]),
    .library(name: "JSONText", targets: ["JSONText"]),
    .library(name: "HTTPTransport", targets: ["HTTPTransport"]),
    .library(name: "StreamsTesting", targets: ["StreamsTesting"]),
    .library(name: "NetLayer", targets: ["NetLayer"]),
    .library(name: "LoopbackServer", targets: ["LoopbackServer"]),
    .executable(name: "Demo", targets: ["Demo"]),
  ],
  targets: [
    .target(name: "Streams"),
    .target(name: "StreamsTesting", dependencies: ["Streams"]),
    .target(name: "JSONText"),
    .target(name: "CCurl", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
    .target(
      name: "HTTPTransport",
      dependencies: ["Streams", .target(name: "CCurl", condition: .when(platforms: [.linux]))]
    ),
    .target(name: "NetLayer", dependencies: ["Streams", "JSONText", "HTTPTransport"]),
    .target(name: "LoopbackServer"),
    .executableTarget(name: "Demo", dependencies: ["Streams", "NetLayer", "LoopbackServer"]),
    .testTarget(name: "StreamsTests", dependencies: ["Streams", "StreamsTesting"]),
    .testTarget(name: "StreamsTestingTests", dependencies: ["Streams", "StreamsTesting"]),
    .testTarget(name: "JSONTextTests", dependencies: ["JSONText"]),
    .target(name: "TestSupport", dependencies: ["HTTPTransport", "Streams", "StreamsTesting"], path: "Tests/Support"),
    .testTarget(name: "LoopbackServerTests", dependencies: ["LoopbackServer", "TestSupport"]),
    .testTarget(
      name: "HTTPTransportTests",
      dependencies: ["HTTPTransport", "NetLayer", "StreamsTesting", "LoopbackServer", "TestSupport"]),
    .testTarget(name: "NetLayerTests", dependencies: ["NetLayer", "StreamsTesting", "LoopbackServer", "TestSupport"]),
    .testTarget(name: "DemoTests", dependencies: ["Demo", "LoopbackServer", "TestSupport"]),
    .testTarget(
      name: "DocumentationTests", dependencies: ["Streams", "StreamsTesting", "NetLayer", "LoopbackServer"]),
  ],
  swiftLanguageModes: [.v6]
)

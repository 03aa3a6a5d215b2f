// swift-tools-version: 6.2
import PackageDescription

/// The settings of new Xcode projects, and upcoming requirements of the compiler.
let strict: [SwiftSetting] = [
  .defaultIsolation(MainActor.self),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
]

let package = Package(
  name: "FirstEndpoint",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  // In your own package: .package(url: "<the URL of the repository>", branch: "main")
  dependencies: [.package(name: "NetLayer", path: "../..")],
  targets: [
    .target(
      name: "Weather",
      dependencies: [.product(name: "NetLayer", package: "NetLayer")],
      swiftSettings: [.enableUpcomingFeature("MemberImportVisibility")]),
    .testTarget(
      name: "WeatherTests",
      dependencies: ["Weather", .product(name: "NetLayerTesting", package: "NetLayer")]),
    .target(
      name: "MainActorApp", dependencies: [.product(name: "NetLayer", package: "NetLayer")], swiftSettings: strict),
    .testTarget(
      name: "MainActorAppTests",
      dependencies: ["MainActorApp", .product(name: "NetLayerTesting", package: "NetLayer")], swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)

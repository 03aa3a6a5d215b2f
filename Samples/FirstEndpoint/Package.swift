// swift-tools-version: 6.2
import PackageDescription

/// What new Xcode projects have, and what the compiler will ask for.
let strict: [SwiftSetting] = [
  .defaultIsolation(MainActor.self),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
]

let package = Package(
  name: "FirstEndpoint",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  // In a package of your own: .package(url: "<the URL of the repository>", branch: "main")
  dependencies: [.package(name: "NetLayer", path: "../..")],
  targets: [
    .target(
      name: "Weather",
      dependencies: [.product(name: "NetLayer", package: "NetLayer")],
      swiftSettings: [.enableUpcomingFeature("MemberImportVisibility")]),
    .testTarget(
      name: "WeatherTests",
      dependencies: ["Weather", .product(name: "StreamsTesting", package: "NetLayer")]),
    .target(
      name: "MainActorApp", dependencies: [.product(name: "NetLayer", package: "NetLayer")], swiftSettings: strict),
    .testTarget(
      name: "MainActorAppTests",
      dependencies: ["MainActorApp", .product(name: "NetLayer", package: "NetLayer")], swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)

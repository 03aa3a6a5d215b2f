// swift-tools-version: 6.0
import PackageDescription

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
  ],
  swiftLanguageModes: [.v6]
)

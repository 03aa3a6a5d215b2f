// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Reader",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  // In your own package: .package(url: "<the URL of the repository>", branch: "main")
  dependencies: [.package(name: "NetLayer", path: "../..")],
  targets: [
    // View models without a view, which build and are tested on Linux.
    .target(
      name: "ReaderKit",
      dependencies: [
        .product(name: "NetLayerQueries", package: "NetLayer"), .product(name: "NetLayerOffline", package: "NetLayer"),
      ]),
    .testTarget(
      name: "ReaderKitTests",
      dependencies: [
        "ReaderKit", .product(name: "NetLayerOffline", package: "NetLayer"),
        .product(name: "NetLayerTesting", package: "NetLayer"),
      ]),
    // The views of SwiftUI; empty on Linux.
    .target(
      name: "ReaderViews", dependencies: ["ReaderKit", .product(name: "NetLayerTesting", package: "NetLayer")]),
  ],
  swiftLanguageModes: [.v6]
)

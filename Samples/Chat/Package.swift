// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Chat",
  platforms: [.macOS(.v15)],
  // In your own package: .package(url: "<the URL of the repository>", branch: "main")
  dependencies: [.package(name: "NetLayer", path: "../..")],
  targets: [
    .executableTarget(
      name: "Chat",
      dependencies: [
        .product(name: "NetLayer", package: "NetLayer"),
        .product(name: "NetLayerTesting", package: "NetLayer"),
      ])
  ],
  swiftLanguageModes: [.v6]
)

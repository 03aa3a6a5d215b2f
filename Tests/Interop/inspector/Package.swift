// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Scenes",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "NetLayer", path: "../../..")],
  targets: [
    .executableTarget(
      name: "Scenes",
      dependencies: [
        .product(name: "NetLayer", package: "NetLayer"), .product(name: "NetLayerTesting", package: "NetLayer"),
        .product(name: "NetLayerInspector", package: "NetLayer"),
      ])
  ],
  swiftLanguageModes: [.v6]
)

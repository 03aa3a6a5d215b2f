// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Clients",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "NetLayer", path: "../../..")],
  targets: [
    .executableTarget(
      name: "Clients",
      dependencies: [
        .product(name: "NetLayer", package: "NetLayer"), .product(name: "NetLayerOAuth", package: "NetLayer"),
      ])
  ],
  swiftLanguageModes: [.v6]
)

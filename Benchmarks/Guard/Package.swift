// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "GuardBenchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "NetLayer", path: "../..")],
  targets: [
    .executableTarget(
      name: "GuardBenchmarks",
      dependencies: [
        .product(name: "NetLayerTesting", package: "NetLayer"), .product(name: "NetLayer", package: "NetLayer"),
        .product(name: "Streams", package: "NetLayer"),
      ])
  ]
)

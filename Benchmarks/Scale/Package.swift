// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "ScaleBenchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "NetLayer", path: "../..")],
  targets: [
    .executableTarget(
      name: "ScaleBenchmarks",
      dependencies: [
        .product(name: "NetLayerTesting", package: "NetLayer"), .product(name: "NetLayer", package: "NetLayer"),
      ])
  ]
)

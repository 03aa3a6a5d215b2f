// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "GrowthBenchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "NetLayer", path: "../..")],
  targets: [
    .executableTarget(
      name: "GrowthBenchmarks",
      dependencies: [
        "NetLayer", "NetLayerQueries", "NetLayerOffline", "NetLayerRecording", "NetLayerTesting", "Streams",
      ].map {
        .product(name: $0, package: "NetLayer")
      })
  ]
)

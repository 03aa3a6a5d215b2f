// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "CachingBenchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "NetLayer", path: "../..")],
  targets: [
    .executableTarget(
      name: "CachingBenchmarks",
      dependencies: [
        .product(name: "NetLayerTesting", package: "NetLayer"), .product(name: "Streams", package: "NetLayer"),
      ])
  ],
  swiftLanguageModes: [.v6]
)

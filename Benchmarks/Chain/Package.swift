// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "ChainBenchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "NetLayer", path: "../..")],
  targets: [
    .target(name: "CountMalloc"),
    .executableTarget(
      name: "ChainBenchmarks",
      dependencies: [
        "CountMalloc", .product(name: "Streams", package: "NetLayer"), .product(name: "NetLayer", package: "NetLayer"),
      ]),
  ]
)

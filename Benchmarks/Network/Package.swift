// swift-tools-version: 6.0
import PackageDescription

let package = Package(
  name: "NetworkBenchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "NetLayer", path: "../..")],
  targets: [
    .target(name: "CurlLoop", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
    .executableTarget(
      name: "NetworkBenchmarks",
      dependencies: [
        "CurlLoop",
        .product(name: "Streams", package: "NetLayer"),
        .product(name: "NetLayer", package: "NetLayer"),
      ]
    ),
    .executableTarget(
      name: "NetworkSoak",
      dependencies: [
        .product(name: "Streams", package: "NetLayer"),
        .product(name: "NetLayer", package: "NetLayer"),
        .product(name: "LoopbackServer", package: "NetLayer"),
      ]
    ),
  ],
  swiftLanguageModes: [.v6]
)

// swift-tools-version: 6.2
import PackageDescription

// Building async-http-client takes minutes, so it is included only if the environment variable PEERS is set.
let peers = Context.environment["PEERS"] != nil

let package = Package(
  name: "NetworkBenchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "NetLayer", path: "../..")]
    + (peers
      ? [
        .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.0.0"),
      ] : []),
  targets: [
    .target(name: "CountMalloc"),
    .target(name: "CurlLoop", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
    .target(name: "SocketLoop"),
    .executableTarget(
      name: "NetworkBenchmarks",
      dependencies: [
        "CountMalloc",
        "CurlLoop",
        .product(name: "Streams", package: "NetLayer"),
        .product(name: "NetLayer", package: "NetLayer"),
        .product(name: "NetLayerTesting", package: "NetLayer"),
      ]
        + (peers
          ? [
            .product(name: "AsyncHTTPClient", package: "async-http-client"),
            .product(name: "NIOSSL", package: "swift-nio-ssl"),
          ] : [])
    ),
    .executableTarget(
      name: "SocketBenchmarks",
      dependencies: [
        "SocketLoop",
        .product(name: "NetLayer", package: "NetLayer"),
        .product(name: "NetLayerTesting", package: "NetLayer"),
      ],
      exclude: ["sockets.py"]
    ),
    .executableTarget(
      name: "NetworkSoak",
      dependencies: [
        .product(name: "Streams", package: "NetLayer"),
        .product(name: "NetLayer", package: "NetLayer"),
        .product(name: "NetLayerOffline", package: "NetLayer"),
        .product(name: "NetLayerTesting", package: "NetLayer"),
      ]
    ),
  ],
  swiftLanguageModes: [.v6]
)

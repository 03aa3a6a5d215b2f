// swift-tools-version: 6.2
import PackageDescription

// Building async-http-client takes minutes, so it is included only if the environment variable PEERS is set.
let peers = Context.environment["PEERS"] != nil

let package = Package(
  name: "LanguagesClient",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "NetLayer", path: "../..")]
    + (peers
      ? [
        .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.0.0"),
      ] : []),
  targets: [
    .target(name: "Payload"),
    .executableTarget(
      name: "LanguagesClient", dependencies: ["Payload", .product(name: "NetLayer", package: "NetLayer")]),
  ]
    + (peers
      ? [
        .executableTarget(
          name: "PeerClient",
          dependencies: [
            "Payload",
            .product(name: "AsyncHTTPClient", package: "async-http-client"),
            .product(name: "NIOSSL", package: "swift-nio-ssl"),
          ])
      ] : [])
)

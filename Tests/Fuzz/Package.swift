// swift-tools-version: 6.2
import PackageDescription

// Built and run by `Tests/Fuzz/run`, which adds the sanitizers and libFuzzer.
let package = Package(
  name: "Fuzz",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "NetLayer", path: "../..")],
  targets: [
    .executableTarget(
      name: "Fuzz",
      dependencies: [
        .product(name: "NetLayer", package: "NetLayer"), .product(name: "HTTPTransport", package: "NetLayer"),
      ]
    )
  ],
  swiftLanguageModes: [.v6]
)

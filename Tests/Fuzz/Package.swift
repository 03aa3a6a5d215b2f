// swift-tools-version: 6.2
import PackageDescription

// `Tests/Fuzz/run` builds and runs this package with the sanitizers and libFuzzer.
let package = Package(
  name: "Fuzz",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "NetLayer", path: "../..")],
  targets: [
    .executableTarget(
      name: "Fuzz",
      dependencies: [
        .product(name: "NetLayer", package: "NetLayer"),
        .product(name: "NetLayerOffline", package: "NetLayer"),
        .product(name: "NetLayerRecording", package: "NetLayer"),
      ]
    )
  ],
  swiftLanguageModes: [.v6]
)

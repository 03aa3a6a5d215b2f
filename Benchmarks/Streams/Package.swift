// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "StreamsBenchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "NetLayer", path: "../.."),
    .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
  ],
  targets: [
    .target(name: "CountMalloc"),
    .executableTarget(
      name: "StreamsBenchmarks",
      dependencies: [
        "CountMalloc",
        .product(name: "Streams", package: "NetLayer"),
        .product(name: "OpenCombine", package: "OpenCombine"),
        .product(name: "OpenCombineDispatch", package: "OpenCombine"),
      ]
    ),
  ],
  swiftLanguageModes: [.v5]
)

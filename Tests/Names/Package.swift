// swift-tools-version: 6.2
import PackageDescription

// A user's package, whose targets have the names of targets and types inside this package.
let netLayer: Target.Dependency = .product(name: "NetLayer", package: "NetLayer")

let package = Package(
  name: "Names",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  dependencies: [.package(name: "NetLayer", path: "../..")],
  targets: [
    .target(name: "CCurl"),
    .target(name: "Request", dependencies: [netLayer, "CCurl"]),
    .target(name: "Cache", dependencies: [netLayer]),
    .executableTarget(name: "Demo", dependencies: [netLayer, "Request", "Cache"]),
  ],
  swiftLanguageModes: [.v6]
)

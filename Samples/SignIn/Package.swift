// swift-tools-version: 6.2
import PackageDescription

let oauth = Target.Dependency.product(name: "NetLayerOAuth", package: "NetLayer")

let package = Package(
  name: "SignIn",
  platforms: [.macOS(.v15)],
  // In your own package: .package(url: "<the URL of the repository>", branch: "main")
  dependencies: [.package(name: "NetLayer", path: "../..")],
  targets: [
    .executableTarget(name: "Service", dependencies: [oauth]),
    .executableTarget(name: "Tool", dependencies: [oauth]),
    .executableTarget(name: "StandIn", dependencies: [.product(name: "NetLayerTesting", package: "NetLayer")]),
  ],
  swiftLanguageModes: [.v6]
)

// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "LanguagesClient",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "NetLayer", path: "../..")],
  targets: [
    .executableTarget(name: "LanguagesClient", dependencies: [.product(name: "NetLayer", package: "NetLayer")])
  ]
)

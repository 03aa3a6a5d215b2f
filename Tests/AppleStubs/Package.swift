// swift-tools-version: 6.2
import PackageDescription

// Stubs of the modules that the Apple branches of the sources use. `run` copies the sources here.
let package = Package(
  name: "AppleStubs",
  platforms: [.macOS(.v15)],
  dependencies: [.package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0")],
  targets: [
    .target(name: "Combine", dependencies: ["OpenCombine"], path: "Modules/Combine"),
    .target(name: "Darwin", path: "Modules/Darwin"),
    .target(name: "Network", dependencies: ["Security"], path: "Modules/Network"),
    .target(name: "SwiftUI", path: "Modules/SwiftUI"),
    .target(name: "UIKit", path: "Modules/UIKit"),
    .target(name: "AppKit", path: "Modules/AppKit"),
    .target(name: "Security", path: "Modules/Security"),
    .target(name: "CryptoKit", path: "Modules/CryptoKit"),
    .target(name: "PortableFoundation", dependencies: ["Darwin"], path: "PortableFoundation"),
    .target(name: "Streams", dependencies: ["PortableFoundation", "Combine", "Darwin"], path: "Streams"),
    .target(name: "StreamsTesting", dependencies: ["Streams", "PortableFoundation"], path: "StreamsTesting"),
    .target(name: "JSONText", dependencies: ["PortableFoundation", "Darwin"], path: "JSONText"),
    .target(name: "DurableFiles", dependencies: ["PortableFoundation", "Darwin", "CryptoKit"], path: "DurableFiles"),
    .target(
      name: "HTTPTransport",
      dependencies: ["PortableFoundation", "Streams", "DurableFiles", "Darwin", "Network", "Security"],
      path: "HTTPTransport", swiftSettings: [.define("HAS_URLSESSION")]),
    .target(
      name: "NetLayer",
      dependencies: [
        "PortableFoundation", "Streams", "JSONText", "HTTPTransport", "Darwin", "Network", "UIKit", "AppKit",
        "Security",
      ],
      path: "NetLayer"),
    .target(
      name: "NetLayerQueries", dependencies: ["PortableFoundation", "Streams", "HTTPTransport", "NetLayer", "Darwin"],
      path: "NetLayerQueries"),
    .target(
      name: "NetLayerOffline",
      dependencies: ["PortableFoundation", "Streams", "JSONText", "HTTPTransport", "NetLayer", "Darwin"],
      path: "NetLayerOffline"),
    .target(
      name: "NetLayerRecording",
      dependencies: ["PortableFoundation", "Streams", "JSONText", "HTTPTransport", "NetLayer", "Darwin"],
      path: "NetLayerRecording"),
    .target(
      name: "NetLayerOAuth",
      dependencies: ["PortableFoundation", "Streams", "JSONText", "HTTPTransport", "NetLayer", "Darwin"],
      path: "NetLayerOAuth"),
    .target(
      name: "NetLayerTesting", dependencies: ["PortableFoundation", "NetLayer", "NetLayerRecording", "Darwin"],
      path: "NetLayerTesting"),
    .target(
      name: "LoopbackServer", dependencies: ["PortableFoundation", "DurableFiles", "Darwin"], path: "LoopbackServer"),
    .target(
      name: "NetLayerInspector", dependencies: ["PortableFoundation", "NetLayerRecording", "LoopbackServer", "Darwin"],
      path: "Inspector"),
    .executableTarget(
      name: "Demo",
      dependencies: [
        "PortableFoundation", "Streams", "NetLayerQueries", "NetLayerOffline", "NetLayerRecording", "LoopbackServer",
        "NetLayerInspector",
      ], path: "Demo"),
    .target(name: "ReaderKit", dependencies: ["NetLayerQueries", "NetLayerOffline"], path: "ReaderKit"),
    .target(name: "ReaderViews", dependencies: ["ReaderKit", "NetLayerTesting", "SwiftUI"], path: "ReaderViews"),
  ],
  swiftLanguageModes: [.v6]
)

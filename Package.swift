// swift-tools-version: 6.2
import PackageDescription

// `URLSessionTransport` is part of the package on Apple platforms and, with the trait, on Linux.
let urlSession: [SwiftSetting] = [
  .define("HAS_URLSESSION", .when(platforms: [.macOS, .iOS, .tvOS, .watchOS, .visionOS])),
  .define("HAS_URLSESSION", .when(traits: ["URLSession"])),
]

// Apple's privacy manifests are resources only for packages that a Mac builds. On Linux, the code that SwiftPM generates for
// resources would import Foundation, with its ICU data, into static programs.
#if canImport(Darwin)
  let privacy = (resources: [Resource.process("PrivacyInfo.xcprivacy")], exclude: [String]())
#else
  let privacy = (resources: [Resource](), exclude: ["PrivacyInfo.xcprivacy"])
#endif

let package = Package(
  name: "NetLayer",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "NetLayer", targets: ["NetLayer"]),
    .library(name: "Streams", targets: ["Streams"]),
    .library(name: "NetLayerQueries", targets: ["NetLayerQueries"]),
    .library(name: "NetLayerOffline", targets: ["NetLayerOffline"]),
    .library(name: "NetLayerRecording", targets: ["NetLayerRecording"]),
    .library(name: "NetLayerOAuth", targets: ["NetLayerOAuth"]),
    .library(name: "NetLayerTesting", targets: ["NetLayerTesting", "StreamsTesting", "LoopbackServer"]),
    .library(name: "NetLayerInspector", targets: ["NetLayerInspector"]),
  ],
  traits: [
    .trait(name: "URLSession", description: "URLSessionTransport on Linux, which links FoundationNetworking"),
    .default(enabledTraits: ["URLSession"]),
  ],
  targets: [
    .target(name: "PortableFoundation"),
    .target(name: "Streams", dependencies: ["PortableFoundation"]),
    .target(name: "StreamsTesting", dependencies: ["Streams", "PortableFoundation"]),
    .target(name: "JSONText", dependencies: ["PortableFoundation"]),
    .target(
      name: "DurableFiles", dependencies: ["PortableFoundation"], exclude: privacy.exclude, resources: privacy.resources
    ),
    .target(name: "CLibcurl", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
    .target(
      name: "HTTPTransport",
      dependencies: [
        "PortableFoundation", "Streams", "JSONText", "DurableFiles",
        .target(name: "CLibcurl", condition: .when(platforms: [.linux])),
      ],
      exclude: privacy.exclude, resources: privacy.resources, swiftSettings: urlSession),
    .target(
      name: "NetLayer", dependencies: ["PortableFoundation", "Streams", "JSONText", "HTTPTransport"],
      exclude: privacy.exclude, resources: privacy.resources),
    .target(
      name: "NetLayerQueries", dependencies: ["PortableFoundation", "Streams", "HTTPTransport", "NetLayer"]),
    .target(
      name: "NetLayerOffline",
      dependencies: ["PortableFoundation", "Streams", "JSONText", "HTTPTransport", "NetLayer"],
      exclude: privacy.exclude, resources: privacy.resources),
    .target(
      name: "NetLayerRecording",
      dependencies: ["PortableFoundation", "Streams", "JSONText", "HTTPTransport", "NetLayer"],
      exclude: privacy.exclude, resources: privacy.resources),
    .target(
      name: "NetLayerOAuth",
      dependencies: ["PortableFoundation", "Streams", "JSONText", "HTTPTransport", "NetLayer"]),
    .target(name: "NetLayerTesting", dependencies: ["PortableFoundation", "NetLayer", "NetLayerRecording"]),
    .target(name: "LoopbackServer", dependencies: ["PortableFoundation", "DurableFiles"]),
    .target(
      name: "NetLayerInspector", dependencies: ["PortableFoundation", "NetLayerRecording", "LoopbackServer"],
      path: "Sources/Inspector"),
    .executableTarget(
      name: "Demo",
      dependencies: [
        "PortableFoundation", "Streams", "NetLayerQueries", "NetLayerOffline", "NetLayerRecording", "LoopbackServer",
        "NetLayerInspector",
      ]),
    .testTarget(name: "PortableFoundationTests", dependencies: ["PortableFoundation"]),
    .target(name: "Races", path: "Tests/Races"),
    .testTarget(name: "StreamsTests", dependencies: ["Streams", "StreamsTesting", "Races", "TestSupport"]),
    .testTarget(name: "StreamsTestingTests", dependencies: ["Streams", "StreamsTesting"]),
    .testTarget(name: "DurableFilesTests", dependencies: ["DurableFiles", "TestSupport"]),
    .testTarget(name: "JSONTextTests", dependencies: ["JSONText", "Races"]),
    .target(
      name: "TestSupport",
      dependencies: [
        "HTTPTransport", "NetLayer", "NetLayerTesting", "LoopbackServer", "Streams", "StreamsTesting", "Races",
      ],
      path: "Tests/Support"),
    .testTarget(name: "LoopbackServerTests", dependencies: ["LoopbackServer", "TestSupport"]),
    .testTarget(
      name: "HTTPTransportTests",
      dependencies: [
        "HTTPTransport", "NetLayerRecording", "NetLayerTesting", "StreamsTesting", "LoopbackServer", "TestSupport",
        "Races",
      ],
      swiftSettings: urlSession),
    .testTarget(
      name: "NetLayerTests",
      dependencies: ["NetLayer", "NetLayerTesting", "StreamsTesting", "LoopbackServer", "TestSupport", "Races"],
      swiftSettings: urlSession),
    .testTarget(
      name: "NetLayerQueriesTests",
      dependencies: ["NetLayerQueries", "NetLayerTesting", "StreamsTesting", "LoopbackServer", "TestSupport"]),
    .testTarget(
      name: "NetLayerOfflineTests",
      dependencies: [
        "NetLayerOffline", "NetLayerQueries", "NetLayerTesting", "StreamsTesting", "LoopbackServer", "TestSupport",
        "Races",
      ]),
    .testTarget(
      name: "NetLayerRecordingTests",
      dependencies: ["NetLayerRecording", "NetLayerTesting", "StreamsTesting", "TestSupport"]),
    .testTarget(
      name: "NetLayerOAuthTests",
      dependencies: [
        "NetLayerOAuth", "NetLayerRecording", "NetLayerTesting", "StreamsTesting", "LoopbackServer", "TestSupport",
      ],
      exclude: ["cases.txt"]),
    .testTarget(
      name: "InspectorTests",
      dependencies: ["NetLayerInspector", "NetLayerRecording", "NetLayerTesting", "LoopbackServer", "TestSupport"],
      exclude: ["hostile.json"]),
    .testTarget(name: "DemoTests", dependencies: ["Demo", "NetLayerRecording", "LoopbackServer", "TestSupport"]),
    .testTarget(
      name: "DocumentationTests",
      dependencies: [
        "Streams", "StreamsTesting", "NetLayerQueries", "NetLayerOffline", "NetLayerRecording", "NetLayerOAuth",
        "NetLayerTesting", "NetLayerInspector", "LoopbackServer", "TestSupport",
      ],
      swiftSettings: urlSession),
  ],
  swiftLanguageModes: [.v6]
)

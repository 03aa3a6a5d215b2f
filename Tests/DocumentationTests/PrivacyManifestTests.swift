import Foundation
import XCTest

/// The privacy manifests state the APIs of Apple platforms that require a reason, for each library target.
final class PrivacyManifestTests: XCTestCase {
  private let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// Apple's categories, and patterns of their APIs ("Describing use of required reason API").
  private let categories = [
    "FileTimestamp":
      #"\b(?:f|l)?stat\(|\bfstatat\(|\bf?getattrlist(?:at|bulk)?\(|attributesOfItem|(?:creation|[mM]odification)Date\b"#
      + #"|(?:creation|contentModification)DateKey"#,
    "SystemBootTime": #"\bsystemUptime\b|\bmach_absolute_time\("#,
    "DiskSpace": #"\bf?statv?fs\(|volumeAvailableCapacity|volumeTotalCapacity|systemFreeSize|systemSize\b"#,
    "ActiveKeyboards": #"\bactiveInputModes\b"#,
    "UserDefaults": #"\bUserDefaults\b|\bAppStorage\b"#,
  ]

  func test_eachLibraryTarget_statesTheAPIsThatItCalls() throws {
    var count = 0
    for target in [
      "PortableFoundation", "Streams", "StreamsTesting", "JSONText", "DurableFiles", "HTTPTransport", "NetLayer",
      "NetLayerQueries", "NetLayerOffline", "NetLayerRecording", "NetLayerTesting", "LoopbackServer",
    ] {
      let used = try categories(of: root.appending(path: "Sources/\(target)"))
      let manifest = root.appending(path: "Sources/\(target)/PrivacyInfo.xcprivacy")
      guard FileManager.default.fileExists(atPath: manifest.path) else {
        XCTAssertEqual(used, [], "\(target) needs a PrivacyInfo.xcprivacy")
        continue
      }
      count += 1
      XCTAssertEqual(try stated(in: manifest), used, target)
    }
    XCTAssertEqual(count, 5)
  }

  private func categories(of folder: URL) throws -> Set<String> {
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL }
    var found: Set<String> = []
    for file in files ?? [] where file.pathExtension == "swift" {
      let code = try String(contentsOf: file, encoding: .utf8).replacingOccurrences(
        of: "//[^\n]*", with: "", options: .regularExpression)
      for (category, pattern) in categories where code.range(of: pattern, options: .regularExpression) != nil {
        found.insert(category)
      }
    }
    return found
  }

  /// Returns the categories of a manifest, which must have reasons, and state that nothing is tracked or collected.
  private func stated(in file: URL) throws -> Set<String> {
    let list = try PropertyListSerialization.propertyList(from: Data(contentsOf: file), format: nil)
    let manifest = try XCTUnwrap(list as? [String: Any])
    XCTAssertEqual(manifest["NSPrivacyTracking"] as? Bool, false)
    XCTAssertEqual((manifest["NSPrivacyTrackingDomains"] as? [Any])?.count, 0)
    XCTAssertEqual((manifest["NSPrivacyCollectedDataTypes"] as? [Any])?.count, 0)
    let types = try XCTUnwrap(manifest["NSPrivacyAccessedAPITypes"] as? [[String: Any]])
    return Set(
      try types.map { type in
        let reasons = try XCTUnwrap(type["NSPrivacyAccessedAPITypeReasons"] as? [String])
        XCTAssert(reasons.contains("C617.1"))
        let name = try XCTUnwrap(type["NSPrivacyAccessedAPIType"] as? String)
        return name.replacing("NSPrivacyAccessedAPICategory", with: "")
      })
  }
}

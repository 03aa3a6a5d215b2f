import Foundation
import HTTPTransport
import NetLayer
import XCTest

/// The guide "Configuration" has each property of the types that it lists, in the order of their initializers, and no other.
final class ConfigurationTests: XCTestCase {
  private let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  func test_tablesHaveEveryProperty() throws {
    let page = try String(
      contentsOf: root.appending(path: "Sources/NetLayer/NetLayer.docc/Configuration.md"), encoding: .utf8)
    let sections = page.components(separatedBy: "\n## ")
    var types: [(String, Any)] = [
      ("Backend", Backend()), ("Time limits", Request.Timeouts()), ("Options for the transport", Request.Options()),
    ]
    #if os(Linux)
      types.append(("CurlTransport on Linux", CurlTransport.Configuration()))
    #endif
    #if HAS_URLSESSION
      types.append(("URLSessionTransport on Apple platforms", URLSessionTransport.Configuration()))
    #endif
    // Properties that users cannot set.
    let hidden: Set = ["signerAccount", "transportNumber", "directory"]
    for (title, value) in types {
      let section = try XCTUnwrap(sections.first { $0.hasPrefix(title + "\n") }, title)
      let rows = section.split(separator: "\n").filter { $0.hasPrefix("| `") }
      let listed = rows.flatMap { row in
        row.split(separator: "|")[0].matches(of: /`(\w+)`/).map { String($0.1) }
      }
      let properties = Mirror(reflecting: value).children.compactMap(\.label).filter { !hidden.contains($0) }
      XCTAssertEqual(Set(listed), Set(properties), title)
      XCTAssertEqual(listed, try arguments(of: "\(String(reflecting: type(of: value)))"), "the order of \(title)")
    }
  }

  /// Returns the labels of the initializer of a type, such as `NetLayer.Backend`, in docs/api.
  private func arguments(of type: String) throws -> [String] {
    let (module, name) = (type.prefix { $0 != "." }, type.drop { $0 != "." }.dropFirst())
    let page = try String(contentsOf: root.appending(path: "docs/api/\(module).txt"), encoding: .utf8)
    let start = "\(name) | init("
    let line = try XCTUnwrap(page.split(separator: "\n").first { $0.hasPrefix(start) }, type)
    // A label follows the parenthesis or a comma; other names with a colon are within brackets or braces.
    return ("(" + line.dropFirst(start.count)).matches(of: #/(?:^\(|, )(\w+): /#).map { String($0.1) }
  }
}

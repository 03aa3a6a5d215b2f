import Foundation
import XCTest

/// A file system with room for 64 KB.
package enum SmallDisk {
  /// Mounts it at `folder`, which is there, for the time of `test`; skips the test where that is not allowed.
  package static func mount(at folder: URL, for test: XCTestCase) throws {
    guard run("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder.path) else {
      throw XCTSkip("a small file system can't be mounted here: that takes root")
    }
    test.addTeardownBlock { _ = run("umount", folder.path) }
  }

  /// Makes the one at `folder` read-only, or writable again.
  package static func setReadOnly(_ isReadOnly: Bool, _ folder: URL) throws {
    guard run("mount", "-o", "remount,\(isReadOnly ? "ro" : "rw")", folder.path) else {
      throw XCTSkip("a file system can't be made read-only here")
    }
  }

  private static func run(_ arguments: String...) -> Bool {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = arguments
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }
}

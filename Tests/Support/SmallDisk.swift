import Foundation
import XCTest

/// A file system of 64 KB.
package enum SmallDisk {
  /// Mounts the file system, in which only this user can write, at the existing `folder` for the duration of `test`. Skips
  /// the test if mounting is not allowed.
  package static func mount(at folder: URL, for test: XCTestCase) throws {
    guard run("mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "tmpfs", folder.path) else {
      throw XCTSkip("a small file system can't be mounted here: that takes root")
    }
    test.addTeardownBlock { _ = run("umount", folder.path) }
  }

  /// Makes the file system at `folder` read-only, or writable again.
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

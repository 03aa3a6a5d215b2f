import Foundation
import XCTest

/// A pseudo-terminal for a program under test.
final class Terminal {
  /// The standard output and standard error of the program.
  let program: FileHandle
  private let screen: Int32

  init(columns: UInt16 = 80) throws {
    var (screen, descriptor): (Int32, Int32) = (-1, -1)
    var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    guard openpty(&screen, &descriptor, nil, nil, &size) == 0 else {
      throw XCTSkip("the system gives no pseudo-terminal: \(String(cString: strerror(errno)))")
    }
    // Other processes that start in the meantime must not inherit it.
    _ = fcntl(screen, F_SETFD, FD_CLOEXEC)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    self.screen = screen
    program = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }

  deinit { close(screen) }

  /// Returns the displayed text when `isEnough` returns `true` for it, or when the program has ended.
  func text(until isEnough: (String) -> Bool = { _ in false }) -> String {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = read(screen, &chunk, chunk.count)
      // EIO: no process has the terminal open.
      guard count > 0 else { break }
      bytes += chunk[..<count]
      if isEnough(String(decoding: bytes, as: UTF8.self)) { break }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

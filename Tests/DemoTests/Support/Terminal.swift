import Foundation
import XCTest

/// A pseudo-terminal: what a program thinks a person sits at.
final class Terminal {
  /// What the program gets as its standard output and error.
  let program: FileHandle
  private let screen: Int32

  init(columns: UInt16 = 80) throws {
    var (screen, descriptor): (Int32, Int32) = (-1, -1)
    var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    guard openpty(&screen, &descriptor, nil, nil, &size) == 0 else {
      throw XCTSkip("the system gives no pseudo-terminal: \(String(cString: strerror(errno)))")
    }
    // Other programs that start meanwhile must not keep it open.
    _ = fcntl(screen, F_SETFD, FD_CLOEXEC)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    self.screen = screen
    program = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }

  deinit { close(screen) }

  /// Everything that was shown, until `isEnough` says so or the program has ended.
  func text(until isEnough: (String) -> Bool = { _ in false }) -> String {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = read(screen, &chunk, chunk.count)
      // EIO: the last one who had the other side open is gone.
      guard count > 0 else { break }
      bytes += chunk[..<count]
      if isEnough(String(decoding: bytes, as: UTF8.self)) { break }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

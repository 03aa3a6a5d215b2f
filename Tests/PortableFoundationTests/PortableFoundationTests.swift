import PortableFoundation
import XCTest

final class PortableFoundationTests: XCTestCase {
  func test_decodingPercent_agreesWithFoundation() {
    for text in ["", "a", "%41b", "%c3%bC", "a%2", "%", "%4", "%4g", "%+4", "%ff", "%C3", "%%41", "%25%34%31", "ü%20"] {
      XCTAssertEqual(text.decodingPercent, text.removingPercentEncoding, text)
    }
  }

  func test_trimmingBlanks_agreesWithFoundation() {
    for text in ["", " ", "\t a b \u{3000}", "\u{A0}a\n", "a", " \u{301}a ", "\r\n a"] {
      XCTAssertEqual(text.trimmingBlanks, text.trimmingCharacters(in: .whitespaces), text.debugDescription)
    }
    XCTAssertEqual("\"'a'b\"".trimming { $0 == "\"" || $0 == "'" }, "a'b")
  }

  func test_isDigits_meansASCIIDigitsOnly() {
    for text in ["0", "9", "0123456789", "00000000000000000000"] { XCTAssertTrue(text.isDigits, text) }
    for text in ["", "-1", "+1", "1 ", "1.0", "/", ":", "1\u{301}", "٣", "1\0", "½"] {
      XCTAssertFalse(text.isDigits, text)
    }
    XCTAssertEqual(Int8(digits: "0127"), 127)
    for text in ["", "128", "+1", "-1"] { XCTAssertNil(Int8(digits: text), text) }
  }

  func test_writeAll_waitsForAFullPipe() throws {
    let pipe = Pipe()
    let (reading, writing) = (pipe.fileHandleForReading, pipe.fileHandleForWriting)
    XCTAssertEqual(fcntl(writing.fileDescriptor, F_SETFL, O_NONBLOCK), 0)
    // The last bytes do not fill the pipe.
    let bytes = Data((0..<(1 << 20) + 5).map { UInt8(truncatingIfNeeded: $0 >> 4) })
    let done = expectation(description: "written")
    try DetachedThread.start("a name of more than 15 bytes") {
      XCTAssertTrue(writeAll(bytes, to: writing.fileDescriptor))
      try? writing.close()
      done.fulfill()
    }
    XCTAssertEqual(try reading.readToEnd(), bytes)
    wait(for: [done], timeout: 60)
    XCTAssertFalse(writeAll(bytes, to: -1))
    XCTAssertEqual(SystemError.last.code, .EBADF)
  }

  func test_systemError_namesTheCauseOfFoundationsErrors() throws {
    let missing = URL(filePath: "/no/such/file")
    XCTAssertThrowsError(try Data(contentsOf: missing)) { error in
      XCTAssertEqual(SystemError.code(of: error), ENOENT)
      XCTAssertEqual(SystemError.text(of: error), String(cString: strerror(ENOENT)))
    }
    struct Other: LocalizedError { let errorDescription: String? = "its own words" }
    XCTAssertNil(SystemError.code(of: Other()))
    XCTAssertEqual(SystemError.text(of: Other()), "its own words")
  }

  func test_threadPointer_belongsToOneThread() throws {
    let pointer = ThreadPointer()
    pointer.value = UnsafeMutableRawPointer(bitPattern: 16)
    defer { pointer.value = nil }
    let done = expectation(description: "seen")
    try DetachedThread.start("other") {
      XCTAssertNil(pointer.value)
      pointer.value = UnsafeMutableRawPointer(bitPattern: 32)
      done.fulfill()
    }
    wait(for: [done], timeout: 60)
    XCTAssertEqual(pointer.value, UnsafeMutableRawPointer(bitPattern: 16))
  }

  func test_fileSize_isThatOfASeekableFile() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try Data(count: 70_000).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    XCTAssertEqual(fileSize(file.path), 70_000)
    XCTAssertNil(fileSize(file.path + ".missing"))
    try Data().write(to: file)
    XCTAssertEqual(fileSize(file.path), 0)
    XCTAssertEqual(mkfifo(file.path + ".fifo", 0o600), 0)
    XCTAssertNil(fileSize(file.path + ".fifo"), "it does not wait for a writer")
    XCTAssertEqual(unlink(file.path + ".fifo"), 0)
    var ends: [Int32] = [0, 0]
    XCTAssertEqual(pipe(&ends), 0)
    XCTAssertNil(fileSize(ends[0]))
    for end in ends { closeDescriptor(end) }
  }
}

import PortableFoundation
import XCTest

/// Tests of calculations whose every step counts: days and classes of characters.
final class CalculationsTests: XCTestCase {
  func test_days_followEachOther() throws {
    let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    var (number, count) = (-730_851, 0)
    for year in 0...9_999 {
      let isLeap = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
      for month in 1...12 {
        let length = month == 2 && isLeap ? 29 : lengths[month - 1]
        // The first and last days of each month, and all days of some years.
        for day in year % 200 < 2 ? Array(1...length) : [1, length] {
          let expected = try XCTUnwrap(GregorianDay(year: year, month: month, day: day))
          guard expected.daysSince2001 == number + day - 1,
            GregorianDay(daysSince2001: Int64(number + day - 1)) == expected
          else { return XCTFail("\(year)-\(month)-\(day)") }
          count += 1
        }
        XCTAssertNil(GregorianDay(year: year, month: month, day: length + 1))
        number += length
      }
    }
    XCTAssertGreaterThan(count, 240_000)
    XCTAssertEqual(number, 2_921_574)
    XCTAssertEqual(GregorianDay(daysSince2001: 0), GregorianDay(year: 2001, month: 1, day: 1))
    for days in [-730_852, 2_921_574, Int64.min, .max] { XCTAssertNil(GregorianDay(daysSince2001: days), "\(days)") }
    for (month, day) in [(0, 1), (13, 1), (1, 0), (-1, 1)] {
      XCTAssertNil(GregorianDay(year: 2026, month: month, day: day))
    }
  }

  func test_unreservedCharacters() {
    let unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    for byte in UInt8.min...(.max) {
      XCTAssertEqual(byte.isUnreserved, unreserved.utf8.contains(byte), "\(byte)")
      XCTAssertEqual(byte.isDigit, "0123456789".utf8.contains(byte), "\(byte)")
    }
  }

  func test_exchange_returnsTheFormerValue() {
    var value = 1
    XCTAssertEqual(exchange(&value, with: 2), 1)
    XCTAssertEqual(value, 2)
  }

  #if os(Linux)
    func test_threadsHaveTheirNames_andLeaveNoDescriptor() throws {
      func count() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
      let before = try count()
      for number in 0..<50 {
        let done = DispatchSemaphore(value: 0)
        try DetachedThread.start("thread \(number), whose name is cut") {
          let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
          XCTAssertEqual(name, "thread \(number), whose name is cut".prefix(15) + "\n")
          done.signal()
        }
        XCTAssertEqual(done.wait(timeout: .now() + 60), .success)
      }
      XCTAssertLessThan(try count(), before + 25)
    }

    /// A thread whose stack would not fit into the address space.
    func test_threadThatTheSystemRefuses_isAnError_andReleasesItsWork() throws {
      typealias Change = @convention(c) (UnsafeMutablePointer<pthread_attr_t>) -> Int32
      guard let get = dlsym(nil, "pthread_getattr_default_np"), let set = dlsym(nil, "pthread_setattr_default_np")
      else {
        throw XCTSkip("only glibc has a default size of stacks")
      }
      let (read, write) = (unsafeBitCast(get, to: Change.self), unsafeBitCast(set, to: Change.self))
      var (former, huge) = (pthread_attr_t(), pthread_attr_t())
      XCTAssertEqual([read(&former), read(&huge)], [0, 0])
      XCTAssertEqual(pthread_attr_setstacksize(&huge, 1 << 47), 0)
      var work: Work? = Work()
      weak let released = work
      XCTAssertEqual(write(&huge), 0)
      let result = Result { [work] in try DetachedThread.start("refused") { work?.run() } }
      XCTAssertEqual(write(&former), 0)
      work = nil
      XCTAssertThrowsError(try result.get()) { error in
        XCTAssertTrue([.EAGAIN, .ENOMEM].contains((error as? POSIXError)?.code), "\(error)")
      }
      XCTAssertNil(released)
    }

    private final class Work: Sendable {
      func run() { XCTFail("the thread runs") }
    }
  #endif
}

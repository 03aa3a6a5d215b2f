import Foundation
import NetLayer
import TestSupport
import XCTest

@testable import HTTPTransport

/// Jars that keep their cookies in a file, and public suffixes.
final class CookieFileTests: XCTestCase {
  private var folder = FileManager.default.temporaryDirectory
  private var file: URL { folder.appending(path: "cookies") }

  override func setUpWithError() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    addTeardownBlock { [folder] in try? FileManager.default.removeItem(at: folder) }
  }

  private func url(_ text: String) throws -> URL { try XCTUnwrap(URL(string: text)) }

  private func jar(keepsSessionCookies: Bool = false) throws -> CookieJar {
    try CookieJar(storingIn: file, keepsSessionCookies: keepsSessionCookies)
  }

  private func failure(_ work: () throws -> some Any) throws -> NetworkError {
    do { _ = try work() } catch { return try XCTUnwrap(error as? NetworkError) }
    throw CancellationError()
  }

  private func set(_ cookies: String..., in jar: CookieJar) throws {
    jar.store(HTTPHeaders(cookies.map { .init(name: "Set-Cookie", value: $0) }), from: try url("https://h.com/a/b"))
  }

  func test_cookiesOfAnEarlierRun_areSentAgain() throws {
    let first = try jar()
    try set("b=2; Max-Age=60; Path=/", "a=1; Max-Age=60; Domain=h.com; Secure", "s=3", in: first)
    try first.save()
    let second = try jar()
    XCTAssertEqual(second.cookies, first.cookies.filter { $0.name != "s" })
    XCTAssertEqual(second.header(for: try url("https://h.com/a/b")), "a=1; b=2")
    XCTAssertEqual(second.header(for: try url("https://api.h.com/a")), "a=1")
    XCTAssertNil(second.header(for: try url("https://other.com/")))
    let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
    XCTAssertEqual(mode, 0o600)
  }

  func test_sessionCookies_areKeptIfAsked() throws {
    let first = try jar(keepsSessionCookies: true)
    try set("s=3", in: first)
    try first.save()
    XCTAssertEqual(try jar(keepsSessionCookies: true).cookies.map(\.name), ["s"])
  }

  func test_changesAreWritten_withoutSave() throws {
    let first = try jar()
    XCTAssertNoThrow(try jar().save(), "an empty jar")
    try set("a=1; Max-Age=60", in: first)
    XCTAssertTrue(holds { (try? self.jar().cookies.count) == 1 })
    first.removeAll()
    XCTAssertTrue(holds { (try? self.jar().cookies.count) == 0 })
  }

  func test_theFileIsNotWritten_ifNothingStoredHasChanged() throws {
    let kept = CookieJar.Cookie(name: "a", value: "1", domain: "h.com", expiresAt: Date() + 1000)
    let session = CookieJar.Cookie(name: "s", value: "1", domain: "h.com")
    let writes = Locked(0)
    let storage = CookieStorage(keepsSessionCookies: false, name: "test") { _ in writes.withLock { $0 += 1 } }
    func noteChange(_ cookies: [CookieJar.Cookie]) {
      let read = expectation(description: "the cookies are read")
      storage.noteChange {
        read.fulfill()
        return cookies
      }
      wait(for: [read], timeout: 20)
    }
    try storage.save { [kept] }
    noteChange([kept, session])
    noteChange([session, kept])
    try storage.save { [kept] }
    XCTAssertEqual(writes.withLock { $0 }, 2, "only save() writes")
    noteChange([session])
    try storage.save { [] }
    XCTAssertEqual(writes.withLock { $0 }, 4)
  }

  func test_damagedFile_isAnErrorAndStays() throws {
    let first = try jar()
    try set("a=1; Max-Age=60", in: first)
    try first.save()
    let bytes = try Data(contentsOf: file)
    for place in stride(from: 0, to: bytes.count, by: 7) {
      for damaged in [bytes.prefix(place), bytes.prefix(place) + [bytes[place] ^ 4] + bytes.dropFirst(place + 1)] {
        try damaged.write(to: file)
        let error = try failure { try jar() }
        XCTAssertEqual(error.kind, .file, "byte \(place)")
        XCTAssertTrue(error.reason.contains(file.path) && error.reason.contains("remove it"), error.reason)
        XCTAssertEqual(try Data(contentsOf: file), damaged)
      }
    }
    try FileManager.default.removeItem(at: file)
    try bytes.write(to: file)
    XCTAssertEqual(chmod(file.path, 0o666), 0)
    XCTAssertTrue(try failure { try jar() }.reason.contains("another user"))
  }

  func test_removedDirectory_isCreatedAgain() throws {
    let jar = try jar()
    try FileManager.default.removeItem(at: folder)
    try jar.save()
    XCTAssertTrue(FileManager.default.fileExists(atPath: file.path))
    try FileManager.default.removeItem(at: folder)
    try Data().write(to: folder)
    let error = try failure { try jar.save() }
    XCTAssertEqual(error.kind, .file)
    XCTAssertTrue(error.reason.contains("the folder \(folder.path) can't be created"), error.reason)
  }

  func test_aJarInMemory_savesNothing() throws { XCTAssertNoThrow(try CookieJar().save()) }

  func test_fullJar_isReadAgain() throws {
    let first = try jar()
    let value = String(repeating: "v", count: 3000)
    for host in 0..<30 {
      for name in 0..<100 {
        first.store(["Set-Cookie": "\(name)=\(value); Max-Age=60"], from: try url("https://h\(host).com/"))
      }
    }
    try first.save()
    XCTAssertEqual(try jar().cookies.count, 3000)
  }

  func test_publicSuffix_isNotADomain() throws {
    try XCTSkipUnless(PublicSuffix.isAvailable, "libpsl is not installed")
    let rows: [(String, String, String?, String?)] = [
      ("https://a.co.uk/", "x=1; Domain=co.uk", nil, nil),
      ("https://a.github.io/", "x=1; Domain=github.io", nil, nil),
      ("https://github.io/", "x=1; Domain=github.io", "x=1", nil),
      ("https://github.io/", "__Host-x=1; Secure; Path=/; Domain=github.io", nil, nil),
      ("https://a.b.co.uk/", "x=1; Domain=b.co.uk", "x=1", "x=1"),
      ("https://a.example.internal/", "x=1; Domain=example.internal", "x=1", "x=1"),
    ]
    for (host, field, own, sub) in rows {
      let jar = CookieJar()
      jar.store(["Set-Cookie": field], from: try url(host))
      let sibling = host.replacing("https://", with: "https://sub.")
      XCTAssertEqual(jar.header(for: try url(host)), own, field)
      XCTAssertEqual(jar.header(for: try url(sibling)), sub, field)
    }
  }

  func test_valueOfACookie_isThatOfTheRequest() throws {
    let jar = CookieJar()
    try set("ab=1", "a=2=3", "á=4; Path=/x", in: jar)
    XCTAssertEqual(jar.value(of: "a", for: try url("https://h.com/a")), "2=3")
    XCTAssertEqual(jar.value(of: "ab", for: try url("https://h.com/a")), "1")
    XCTAssertNil(jar.value(of: "á", for: try url("https://h.com/a")))
    XCTAssertNil(jar.value(of: "a", for: try url("https://other.com/a")))
  }
}

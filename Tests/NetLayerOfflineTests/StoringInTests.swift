import Foundation
import HTTPTransport
import TestSupport
import XCTest

@testable import NetLayer
@testable import NetLayerOffline

/// One rule for each `storingIn`: a missing folder is created with mode 0700, and one that can't be created is named.
final class StoringInTests: UploadTestCase {
  private typealias Door = (name: String, open: (URL) async throws -> Void)

  /// The six functions with this label, each as one that stores something in a folder.
  private func doors() throws -> [Door] {
    try write(1000)
    let server = try UploadServer(.tus)
    let network = network(server)
    return [
      ("Outbox", { _ = try Outbox(storingIn: $0, on: network) }),
      ("Device", { _ = try Device.current(storingIn: $0.appending(path: "device")) }),
      ("FileTokenStore", { try FileTokenStore(storingIn: $0.appending(path: "token")).save(Token(access: "a")) }),
      ("FileTokenStore, read", { _ = try FileTokenStore(storingIn: $0.appending(path: "token")).load() }),
      (
        "FileTokenStore, locked",
        { try FileTokenStore(storingIn: $0.appending(path: "token")).lockForRefresh()?.dispose() }
      ),
      ("CookieJar", { try CookieJar(storingIn: $0.appending(path: "cookies")).save() }),
      (
        "upload",
        { [film] in
          _ = try await network.upload(film, to: Call<Response>.post("/files"), by: .tus, storingIn: $0)
          withExtendedLifetime(server) {}
        }
      ),
      (
        "ResponseCache",
        {
          let problems = Box<[NetworkError]>([])
          let cache = ResponseCache(storingIn: $0) { problem in problems.update { $0.append(problem) } }
          let entry = CacheEntry(
            status: 200, headers: [:], body: Data("a".utf8), requestedAt: 0, receivedAt: 0, expiresAt: .infinity)
          cache.store(entry, for: "a", headers: [:])
          for _ in 0..<4 {
            cache.queue.sync {}
            cache.writing.sync {}
          }
          if let problem = problems.value.first { throw problem }
        }
      ),
    ]
  }

  private let remedies = [
    "; choose another directory", "; choose another file, in a writable directory",
    "; create the folder, or choose another file", "; check its directory",
    "; pass a writable directory as storingIn", "; make it writable, or pass another directory",
  ]

  private func mode(_ folder: URL) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: folder.path)[.posixPermissions] as? Int
  }

  func test_missingFolders_areCreatedWithMode0700() async throws {
    for (name, open) in try doors() {
      let top = folder.appending(path: UUID().uuidString)
      try await open(top.appending(path: "a/b"))
      for place in ["", "a", "a/b"] { XCTAssertEqual(try mode(top.appending(path: place)), 0o700, "\(name): \(place)") }
    }
  }

  func test_ownLinkToAMissingFolder_isFollowed() async throws {
    for (name, open) in try doors() {
      let (link, target) = (folder.appending(path: UUID().uuidString), folder.appending(path: UUID().uuidString))
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target.appending(path: "a"))
      try await open(link)
      XCTAssertEqual(try mode(target.appending(path: "a")), 0o700, name)
      XCTAssertNoThrow(
        try FileManager.default.destinationOfSymbolicLink(atPath: link.path), "\(name): the link remains")
    }
  }

  func test_noteOfAnUpload_hasOnePath_beforeAndAfterTheFolderExists() throws {
    let (link, target) = (folder.appending(path: "link"), folder.appending(path: "target"))
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target)
    let before = UploadNoteFile.url(for: film, in: link, identity: "a")
    try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
    XCTAssertEqual(UploadNoteFile.url(for: film, in: link, identity: "a"), before)
  }

  /// A file in place of a folder, a file above it, and a folder in which nobody may create another one.
  func test_folderThatCannotBeCreated_isNamed_withARemedy() async throws {
    let file = folder.appending(path: "file")
    try Data().write(to: file)
    var places = [file, file.appending(path: "a")]
    #if os(Linux)
      places.append(URL(filePath: "/proc/none/a"))
    #endif
    if geteuid() != 0 {
      let closed = folder.appending(path: "closed")
      try FileManager.default.createDirectory(
        at: closed, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o500])
      places.append(closed.appending(path: "a"))
    }
    for (name, open) in try doors() {
      for place in places {
        do {
          try await open(place)
          XCTFail("\(name): \(place.path)")
        } catch let error as NetworkError {
          XCTAssertEqual(error.kind, .file, name)
          let text = error.reason
          let names = [
            "the folder \(place.path) can't be created: ", "the cache directory \(place.path) can't be used",
          ]
          XCTAssertTrue(names.contains(where: text.contains), "\(name): \(text)")
          XCTAssertFalse(text.contains("Input/output error"), "\(name): \(text)")
          XCTAssertTrue(remedies.contains(where: text.contains), "\(name): \(text)")
        }
      }
    }
  }
}

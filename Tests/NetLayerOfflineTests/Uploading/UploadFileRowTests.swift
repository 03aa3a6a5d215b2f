import Foundation
import LoopbackServer
import NetLayerTesting
import Streams
import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer
@testable import NetLayerOffline

/// The situations of an upload, over real connections: those of the file, the note, the subscriber and the user.
final class UploadFileRowTests: UploadTestCase {
  /// Begins an upload that pauses when the server has read a part of it.
  private func pause(
    _ server: UploadServer, _ method: UploadProtocol, on network: Network? = nil, after count: Int = 100_000
  ) async throws {
    server.fail("PATCH", .cut(count))
    server.fail("HEAD", .hang)
    let subscription = (network ?? self.network(server)).transfer(
      film, to: .post("/files"), by: method, retry: policy
    )
    .subscribe(onError: { XCTFail("\($0)") })
    XCTAssertTrue(holds { server.log.last?.hasPrefix("HEAD") == true })
    subscription.dispose()
    XCTAssertEqual(notes.count, 1)
    server.clearLog()
  }

  func test_upload_row_06_23_disposed_pauses_andContinuesWithHEAD() async throws {
    for method in methods {
      let server = try UploadServer(method)
      let bytes = try write(300_000)
      try await pause(server, method)
      XCTAssertTrue(server.log.isEmpty, "nothing is sent during the pause")
      await assertUploads(bytes, server, method)
      XCTAssertEqual(server.log, ["HEAD /uploads/1", "PATCH 100000+200000"])
    }
  }

  /// Notes the method of each request that begins.
  private struct Begun: Interceptor {
    let notes: Notes
    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
      notes.add("\(request.method)")
      return next(request)
    }
  }

  func test_upload_fileWhoseNameIsThatOfAnUnfinishedFileElsewhere_remains() async throws {
    let server = try UploadServer(.tus)
    try write(1000)
    let recording = folder.appending(path: "new-\(UUID().uuidString)")
    try FileManager.default.moveItem(at: film, to: recording)
    try await network(server).upload(recording, to: .post("/files"), by: .tus, retry: policy)
    XCTAssertTrue(FileManager.default.fileExists(atPath: recording.path))
  }

  func test_upload_row_23_disposedByAnEvent_sendsNothingMore() async throws {
    for method in methods {
      let server = try UploadServer(method)
      for count in [0, 300_000] where method == .ietf() || count > 0 {
        let bytes = try write(count)
        server.clearLog()
        // A request that is cancelled immediately may not reach the server.
        let begun = Notes()
        let app = network(server) { $0.interceptors = [Begun(notes: begun)] }
        let first = try await app.transfer(film, to: .post("/files"), by: method, retry: policy)
          .take(1).asSingle().value
        XCTAssertEqual(first.progress?.sent, 0)
        // The task may continue before `take` has disposed the upload.
        XCTAssertTrue(holds { UploadRegistry.shared[note.path] == nil })
        XCTAssertEqual(notes.count, 1)
        let next = await upload(server, method, on: app)
        XCTAssertNil(next.kind)
        XCTAssertEqual(server.log.map { $0.prefix(5) }, ["POST ", "HEAD ", "PATCH"], "\(server.log)")
        XCTAssertEqual(begun.all, ["POST", "HEAD", "PATCH"])
        XCTAssertTrue(server.finished.last == bytes)
      }
    }
  }

  func test_upload_row_12_rejectedToken_isRefreshed_andAFailedRefreshKeepsTheNote() async throws {
    for method in methods {
      try removeNotes()
      let server = try UploadServer(method)
      let bytes = try write(1000)
      let mayRefresh = Box(true)
      let login = AuthenticationInterceptor(
        for: [server.url], store: MemoryTokenStore(Token(access: "old", account: "ann"))
      ) { _ -> Single<Token> in
        mayRefresh.value
          ? .just(Token(access: "new", account: "ann")) : .error(NetworkError(kind: .status, reason: "no"))
      }
      let network = network(server) { $0.interceptors = [login] }
      server.fail("PATCH", .status(401))
      let result = await upload(server, method, on: network)
      XCTAssertNil(result.kind)
      XCTAssertEqual(server.log, ["POST /files", "PATCH 0+1000", "PATCH 0+1000"])
      XCTAssertEqual(server.requests.map { $0.header("Authorization") }, ["Bearer old", "Bearer old", "Bearer new"])
      XCTAssertEqual(server.finished, [bytes])
      mayRefresh.value = false
      server.fail("PATCH", .status(401))
      let failed = await upload(server, method, on: network)
      XCTAssertEqual(failed.kind, .authentication)
      XCTAssertEqual(notes.count, 1)
    }
  }

  func test_upload_row_17_impossibleOffset_orNoLocation_isAnError_andTheNoteIsGone() async throws {
    for method in methods {
      let server = try UploadServer(method)
      try write(16 << 20)
      server.fail("PATCH", .cut(100))
      server.fail("HEAD", .lie(["Upload-Offset": "\(1 << 30)"]))
      let result = await upload(server, method)
      XCTAssertEqual(result.kind, .parse)
      XCTAssertEqual(notes, [])
      XCTAssertTrue(holds { server.log.last == "DELETE /uploads/1" }, "\(server.log)")
      server.clearLog()
      server.fail("POST", .lie(["Location": nil]))
      let other = await upload(server, method)
      guard case .failure(let error) = other else { return XCTFail("no error") }
      XCTAssertEqual(error.kind, .parse)
      XCTAssertTrue(error.reason.contains("does not support"), error.reason)
      XCTAssertEqual(server.log, ["POST /files"])
      XCTAssertEqual(notes, [])
    }
  }

  func test_upload_row_17_malformedOffsets_areNotOffsets() async throws {
    for method in methods {
      for offset in ["-1", "+5", "5 ", "0x10", "5, 7", "1e3", "99999999999999999999", "", "5;a=1"] where offset != "5 "
      {
        try removeNotes()
        let server = try UploadServer(method)
        let bytes = try write(1000)
        server.fail("PATCH", .cut(10))
        server.fail("HEAD", .lie(["Upload-Offset": offset]))
        await assertUploads(bytes, server, method)
        XCTAssertEqual(server.log.filter { $0.hasPrefix("HEAD") }.count, 2, offset)
      }
    }
  }

  func test_upload_row_19_tooLargeRequest_isSentInSmallerOnes() async throws {
    for method in methods {
      for states in [false, true] where method == .ietf() || !states {
        let server = try UploadServer(method, UploadServer.Habits(maxAppend: 300_000, statesMaxAppend: states))
        let bytes = try write(3_000_000)
        await assertUploads(bytes, server, method)
        XCTAssertEqual(server.log.prefix(3), ["POST /files", "PATCH 0+3000000", "HEAD /uploads/1"])
        XCTAssertEqual(server.log[3], states ? "PATCH 0+300000" : "PATCH 0+262144")
        try write(200_000)
        server.habits.maxAppend = 1000
        if !states {
          let result = await upload(server, method)
          guard case .failure(let error) = result else { return XCTFail("no error") }
          XCTAssertEqual(error.status, 413, "there is a smallest request")
          try removeNotes()
        }
      }
    }
  }

  func test_upload_row_19_limitOfTheCreation_isKept() async throws {
    let server = try UploadServer(
      .ietf(), UploadServer.Habits(limits: "max-size=10000000, max-append-size=400000;x=1, new=?1"))
    let bytes = try write(1_000_000)
    await assertUploads(bytes, server, .ietf())
    XCTAssertEqual(server.log, ["POST /files", "PATCH 0+400000", "PATCH 400000+400000", "PATCH 800000+200000"])
    XCTAssertEqual(server.requests.dropFirst().map { $0.header("Upload-Complete") }, ["?0", "?0", "?1"])
  }

  func test_upload_row_20_tooLargeFile_isAnError() async throws {
    let server = try UploadServer(.ietf(), UploadServer.Habits(limits: "max-size=999"))
    try write(1000)
    let result = await upload(server, .ietf())
    XCTAssertEqual(result.kind, .tooLarge)
    XCTAssertTrue(holds { server.log == ["POST /files", "DELETE /uploads/1"] }, "\(server.log)")
    XCTAssertEqual(notes, [])
  }

  func test_upload_row_21_changedBeforeSubscribing_startsOver() async throws {
    for method in methods {
      try removeNotes()
      let server = try UploadServer(method)
      try write(16 << 20)
      try await pause(server, method)
      let bytes = try write(300_000, seed: 2)
      await assertUploads(bytes, server, method)
      XCTAssertEqual(Set(server.log), ["DELETE /uploads/1", "POST /files", "PATCH 0+300000"])
    }
  }

  func test_upload_row_22_changedWhileItIsSent_neverCompletes() async throws {
    for method in methods {
      let changes: [@Sendable (URL) throws -> Void] = [
        { file in
          let handle = try FileHandle(forWritingTo: file)
          try handle.seek(toOffset: 5)
          try handle.write(contentsOf: Data("x".utf8))
          try handle.close()
        },
        { file in try Data(count: 16 << 20).write(to: file, options: .atomic) },
        { file in try FileHandle(forWritingTo: file).truncate(atOffset: 10) },
        { file in try FileManager.default.removeItem(at: file) },
      ]
      for (index, change) in changes.enumerated() {
        let server = try UploadServer(method)
        try write(16 << 20)
        let film = film
        // In the pause after a cut, so that the test does not depend on time.
        server.fail("PATCH", .cut(100_000))
        server.fail("HEAD", .before { try? change(film) })
        let result = await upload(server, method)
        XCTAssertEqual(result.kind, .file, "change \(index)")
        XCTAssertTrue(holds { server.log.last == "DELETE /uploads/1" }, "\(server.log)")
        XCTAssertEqual(server.finished, [], "nothing completes")
        XCTAssertEqual(notes, [])
      }
    }
  }

  func test_upload_row_24_cancelledWhileItRuns() async throws {
    for method in methods {
      let server = try UploadServer(method)
      try write(300_000)
      server.fail("PATCH", .cut(100))
      server.fail("HEAD", .hang)
      let kind = Box<NetworkError.Kind?>(nil)
      let subscription = network(server).transfer(film, to: .post("/files"), by: method, retry: policy)
        .subscribe(onError: { kind.value = ($0 as? NetworkError)?.kind })
      XCTAssertTrue(holds { server.log.last?.hasPrefix("HEAD") == true })
      try await network(server).cancelUpload(of: film, to: .post("/files"), by: method).value
      XCTAssertTrue(holds { kind.value == .cancelled })
      XCTAssertEqual(server.log.last, "DELETE /uploads/1")
      XCTAssertEqual(notes, [])
      subscription.dispose()
    }
  }

  func test_upload_row_25_26_cancelUpload_withoutAResponse_andWithoutTermination() async throws {
    for method in methods {
      try removeNotes()
      let server = try UploadServer(method)
      try write(300_000)
      try await pause(server, method)
      let network = network(server)
      for (fault, kind) in [(UploadServer.Fault.loseRequest, NetworkError.Kind.connection), (.status(500), .status)] {
        server.fail("DELETE", fault)
        do {
          try await network.cancelUpload(of: film, to: .post("/files"), by: method).value
          XCTFail("no error")
        } catch {
          XCTAssertEqual((error as? NetworkError)?.kind, kind)
        }
        XCTAssertEqual(notes.count, 1, "it can be repeated")
      }
      // The file may be gone.
      try FileManager.default.removeItem(at: film)
      server.habits.deletes = false
      try await network.cancelUpload(of: film, to: .post("/files"), by: method).value
      XCTAssertEqual(notes, [])
      server.clearLog()
      try await network.cancelUpload(of: film, to: .post("/files"), by: method).value
      XCTAssertEqual(server.log, [], "nothing to delete")
      XCTAssertEqual(notes, [])
    }
  }

  func test_upload_row_27_secondSubscription_isBusy() async throws {
    for method in methods {
      let server = try UploadServer(method)
      try write(300_000)
      server.fail("PATCH", .cut(100))
      server.fail("HEAD", .hang)
      let first = network(server).transfer(film, to: .post("/files"), by: method, retry: policy)
        .subscribe(onError: { XCTFail("\($0)") })
      XCTAssertTrue(holds { server.log.last?.hasPrefix("HEAD") == true })
      let count = server.log.count
      let second = await upload(server, method)
      XCTAssertEqual(second.kind, .fileInUse)
      XCTAssertEqual(server.log.count, count, "nothing is sent")
      first.dispose()
      let third = await upload(server, method)
      XCTAssertNil(third.kind)
    }
  }

  func test_upload_row_12_tokenServerThatIsDown_isALostConnection() async throws {
    for method in methods {
      try removeNotes()
      let server = try UploadServer(method)
      let bytes = try write(1000)
      let isDown = Flag()
      let login = AuthenticationInterceptor(
        for: [server.url], store: MemoryTokenStore(Token(access: "old", account: "ann"))
      ) { _ -> Single<Token> in
        guard isDown.raise() else { return .just(Token(access: "new", account: "ann")) }
        let response = Response(request: Request(url: server.url), status: 503)
        return .error(NetworkError(kind: .status, reason: "503", response: response))
      }
      server.fail("PATCH", .status(401))
      let result = await upload(server, method, on: network(server) { $0.interceptors = [login] })
      XCTAssertNil(result.kind)
      XCTAssertTrue(server.finished.last == bytes)
    }
  }

  func test_upload_row_28_otherUser_hasAnotherNote() async throws {
    for method in methods {
      try removeNotes()
      let server = try UploadServer(method)
      let bytes = try write(300_000)
      func network(_ user: String) -> Network {
        let login = AuthenticationInterceptor(
          for: [server.url], store: MemoryTokenStore(Token(access: UUID().uuidString, account: user))
        ) { _ -> Single<Token> in .never() }
        return self.network(server) { $0.interceptors = [login] }
      }
      try await pause(server, method, on: network("ann"))
      let other = await upload(server, method, on: network("bob"))
      XCTAssertNil(other.kind)
      XCTAssertEqual(server.log, ["POST /files", "PATCH 0+300000"])
      server.clearLog()
      let own = await upload(server, method, on: network("ann"))
      XCTAssertNil(own.kind)
      XCTAssertEqual(server.log, ["HEAD /uploads/1", "PATCH 100000+200000"])
      XCTAssertEqual(server.finished, [bytes, bytes])
    }
  }

  /// Signs a user in immediately before a request begins, after the upload has compared the users.
  private struct SignIn: Interceptor {
    let login: AuthenticationInterceptor
    let method: HTTPMethod
    let token: Token

    func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
      if request.method == method { login.set(token) }
      return next(request)
    }
  }

  func test_upload_row_12_challenge_isNotAnotherUser() async throws {
    for method in methods {
      let server = try UploadServer(method)
      let bytes = try write(300_000)
      // The network of a process, which knows no challenge.
      func app() -> Network {
        let login = ChallengeInterceptor(for: [server.url], user: "ann", password: "p", allowsBasicWithoutTLS: true)
        return network(server) { $0.interceptors = [login] }
      }
      let challenge = UploadServer.Fault.status(401, ["WWW-Authenticate": "Basic realm=\"files\""])
      server.fail("POST", challenge)
      let first = await upload(server, method, on: app())
      XCTAssertNil(first.kind)
      XCTAssertEqual(server.log, ["POST /files", "POST /files", "PATCH 0+300000"])
      XCTAssertEqual(notes, [])
      // The note of a paused upload is found before and after the challenge.
      let same = app()
      server.fail("POST", challenge)
      try await pause(server, method, on: same)
      let second = await upload(server, method, on: same)
      XCTAssertNil(second.kind)
      try await pause(server, method, on: same)
      let third = await upload(server, method, on: app())
      XCTAssertNil(third.kind)
      XCTAssertEqual(server.log, ["HEAD /uploads/3", "PATCH 100000+200000"])
      XCTAssertEqual(server.finished, [bytes, bytes, bytes])
      XCTAssertEqual(notes, [])
    }
  }

  func test_upload_row_28_tokenWithoutAccount_isReported() async throws {
    for (token, count) in [(Token(access: "a"), 1), (Token(access: "a", account: "ann"), 0), (nil, 0)] {
      let server = try UploadServer(.tus)
      try write(1000)
      let login = AuthenticationInterceptor(for: [server.url], store: MemoryTokenStore(token)) { _ -> Single<Token> in
        .never()
      }
      let errors = Notes()
      let app = network(server) {
        $0.interceptors = [login]
        $0.onError = { errors.add("\($0.kind): \($0.reason)") }
      }
      let result = await upload(server, .tus, on: app)
      XCTAssertNil(result.kind)
      XCTAssertEqual(errors.all.count, count, "\(errors.all)")
      for text in errors.all { XCTAssert(text.contains("sign in with a Token that has an account"), text) }
    }
  }

  func test_upload_unfinishedNote_isRemovedByTheNextUpload() async throws {
    let server = try UploadServer(.tus)
    let bytes = try write(1000)
    // A process was killed while it wrote a note.
    let unfinished = folder.appending(path: ".netlayer-new-\(UUID().uuidString)")
    try Data("note".utf8).write(to: unfinished)
    await assertUploads(bytes, server, .tus)
    XCTAssertFalse(FileManager.default.fileExists(atPath: unfinished.path))
  }

  func test_upload_row_28_userWhoSignsInBeforeARequest_doesNotSendIt() async throws {
    for method in [HTTPMethod.patch, .delete] {
      try removeNotes()
      let server = try UploadServer(.tus)
      try write(300_000)
      let login = AuthenticationInterceptor(
        for: [server.url], store: MemoryTokenStore(Token(access: "a", account: "ann"))
      ) { _ -> Single<Token> in .never() }
      let signIn = SignIn(login: login, method: method, token: Token(access: "b", account: "bob"))
      if method == .patch {
        let result = await upload(server, .tus, on: network(server) { $0.interceptors = [signIn, login] })
        XCTAssertEqual(result.kind, .authentication)
        XCTAssertEqual(server.log, ["POST /files"])
      } else {
        let app = network(server) { $0.interceptors = [signIn, login] }
        try await pause(server, .tus, on: app)
        server.clearLog()
        do {
          try await app.cancelUpload(of: film, to: .post("/files"), by: .tus).value
          XCTFail("another user must not delete the upload")
        } catch let error as NetworkError {
          XCTAssertEqual(error.kind, .authentication)
        }
        XCTAssertEqual(server.log, [])
      }
      XCTAssertEqual(notes.count, 1)
    }
  }

  func test_upload_row_28_otherUserOfAnInterceptor_sendsNothingOfTheUpload() async throws {
    final class Names: Interceptor, AccountSource {
      let user: Box<String>
      init(user: Box<String>) { self.user = user }
      var accountState: AccountState { .user(user.value) }
      var accountChanges: Observable<Void>? { nil }
      func covers(_ request: Request) -> Bool { true }
      func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> { next(request) }
    }
    let (server, user) = (try UploadServer(.tus), Box("ann"))
    try write(300_000)
    server.fail("PATCH", .cut(100))
    server.fail("HEAD", .before { user.value = "bob" })
    let result = await upload(server, .tus, on: network(server) { $0.interceptors = [Names(user: user)] })
    XCTAssertEqual(result.kind, .authentication)
    XCTAssertEqual(server.log, ["POST /files", "PATCH 0+100", "HEAD /uploads/1"])
  }

  func test_upload_row_28_userWhoSignsInDuringTheUpload_sendsNothingOfIt() async throws {
    let server = try UploadServer(.tus)
    try write(300_000)
    let login = AuthenticationInterceptor(
      for: [server.url], store: MemoryTokenStore(Token(access: "a", account: "ann"))
    ) { _ -> Single<Token> in .never() }
    server.fail("PATCH", .cut(100))
    let isSignedIn = DispatchSemaphore(value: 0)
    server.fail(
      "HEAD",
      .before {
        Task {
          try await login.setToken(Token(access: "b", account: "bob"))
          isSignedIn.signal()
        }
        isSignedIn.wait()
      })
    let result = await upload(server, .tus, on: network(server) { $0.interceptors = [login] })
    XCTAssertEqual(result.kind, .authentication)
    XCTAssertEqual(server.log, ["POST /files", "PATCH 0+100", "HEAD /uploads/1"])
    XCTAssertEqual(notes.count, 1)
  }
}

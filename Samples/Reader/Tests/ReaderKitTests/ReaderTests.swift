import Foundation
import NetLayerOffline
import NetLayerTesting
import Observation
import Streams
import StreamsTesting
import Synchronization
import XCTest

@testable import ReaderKit

/// The screens of the sample, against a stub in virtual time. No test waits.
@MainActor
final class ReaderTests: XCTestCase {
  private let clock = TestScheduler(resolution: .milliseconds(1))
  private let url = URL(string: "https://reader.example")

  /// A server with two articles, which accepts likes of article 1 only.
  private final class Server: Sendable {
    let isLiked = Mutex(false)
    let isOffline = Mutex(false)
    let lists = Mutex(0)
    let sentFilm = Mutex<[String]>([])
    let comments = Mutex<[String]>([])

    @Sendable func reply(_ request: Request) -> StubTransport.StubbedResponse? {
      if isOffline.withLock({ $0 }) { return .failure(.connection) }
      let user = request.headers["Authorization"] == "Bearer t-ada" ? "Ada's " : ""
      switch (request.method, request.url.path) {
      case (.get, "/articles"):
        let liked = isLiked.withLock { $0 }
        lists.withLock { $0 += 1 }
        return .json(
          #"[{"id":1,"title":"\#(user)Tea","is_liked":\#(liked)},{"id":2,"title":"Rice","is_liked":false}]"#,
          after: .milliseconds(10))
      case (.get, "/articles/1"): return .json(#"{"title":"Tea","text":"Green tea"}"#)
      case (.put, "/articles/1/like"):
        isLiked.withLock { $0 = true }
        return .response(status: 204, after: .milliseconds(10))
      case (.get, "/search"): return .json(#"[{"id":1,"title":"\#(request.url.query() ?? "")","is_liked":false}]"#)
      case (.post, "/token"):
        guard case .data(let form) = request.body, String(decoding: form, as: UTF8.self).contains("password=right")
        else { return .json(#"{"error_description":"Wrong password"}"#, status: 401) }
        return .json(#"{"access_token":"t-ada","refresh_token":"r","expires_in":3600}"#)
      case (.post, "/articles/1/pictures"):
        return .response(status: 201, after: .milliseconds(50)).reporting([.init(sent: 1, sendTotal: 2)])
      case (.post, "/articles/1/films"): return .response(status: 201, headers: ["Location": "/uploads/1"])
      case (_, "/uploads/1"): return film(request)
      case (.put, let path) where path.hasPrefix("/articles/1/comments/"):
        comments.withLock { $0.append(path) }
        return .response(status: 204, after: .milliseconds(10))
      case (.put, _): return .json(#"{"message":"Not allowed"}"#, status: 403, after: .milliseconds(10))
      default: return nil
      }
    }

    /// Loses the connection after 3 bytes of a film.
    private func film(_ request: Request) -> StubTransport.StubbedResponse {
      let count = sentFilm.withLock { sent in
        sent.append("\(request.method) \(request.headers["Upload-Offset"] ?? "")")
        return sent.count
      }
      if count == 1 { return .failure(.connection) }
      return .response(status: 204, headers: ["Upload-Offset": request.method == .head ? "3" : "5"])
    }
  }

  private let server = Server()
  private var reader = Reader(URL(filePath: "/"), store: MemoryTokenStore(), cache: ResponseCache(storingIn: nil))

  override func setUp() async throws {
    let stub = StubTransport(on: clock, server.reply)
    reader = Reader(
      try XCTUnwrap(url), store: MemoryTokenStore(), cache: ResponseCache(storingIn: nil)
    ) { [clock] backend in
      (backend.transport, backend.clock, backend.mapping) = (stub, clock, clock)
      backend.messages = .english
    }
  }

  /// Runs the work that is due until `condition` holds.
  private func settle(_ condition: () -> Bool, line: UInt = #line) async {
    for _ in 0..<10_000 where !condition() {
      clock.advanceBy(1)
      await Task.yield()
    }
    XCTAssertTrue(condition(), line: line)
  }

  /// Work that the test started, which needs the clock to end.
  @MainActor
  private final class Work {
    private(set) var isDone = false

    init(_ work: @escaping @MainActor () async -> Void) {
      Task {
        await work()
        isDone = true
      }
    }
  }

  func test_list_showsArticles_andALikeImmediately() async {
    let model = ListModel(reader.network)
    let run = Task { await model.run() }
    await settle { model.articles.map(\.title) == ["Tea", "Rice"] && !model.isLoading }
    let like = Work { await model.setLiked(true, 1) }
    await settle { model.articles.first?.isLiked == true }
    await settle { server.isLiked.withLock { $0 } && !model.isLoading }
    await settle { like.isDone }
    XCTAssertEqual(model.articles.map(\.isLiked), [true, false])
    XCTAssertNil(model.note)
    run.cancel()
  }

  func test_pulledDown_list_isRequestedAgain_andTheIndicatorStaysUntilTheResponse() async {
    let model = ListModel(reader.network)
    let run = Task { await model.run() }
    await settle { model.articles.count == 2 && !model.isLoading }
    server.isLiked.withLock { $0 = true }
    let before = server.lists.withLock { $0 }
    let pull = Work { await model.refresh() }
    await settle { model.isLoading }
    XCTAssertFalse(pull.isDone)
    await settle { pull.isDone && model.articles.first?.isLiked == true }
    XCTAssertEqual(server.lists.withLock { $0 }, before + 1)
    run.cancel()
  }

  func test_refusedLike_changesBack_andSaysWhy() async {
    let model = ListModel(reader.network)
    let run = Task { await model.run() }
    await settle { model.articles.count == 2 && !model.isLoading }
    let like = Work { await model.setLiked(true, 2) }
    await settle { model.articles[1].isLiked }
    await settle { model.note == "Not allowed" }
    await settle { like.isDone }
    await settle { !model.articles[1].isLiked }
    run.cancel()
  }

  func test_streams_showTheSame() async {
    let model = ListStream(reader.network)
    await settle { model.articles.value.count == 2 }
    model.setLiked(true, 2)
    await settle { model.articles.value[1].isLiked }
    await settle { model.note.value == "Not allowed" && !model.articles.value[1].isLiked }
  }

  func test_offline_screenIsFilledFromTheCache_withANote() async {
    let first = ListModel(reader.network)
    let run = Task { await first.run() }
    await settle { first.articles.count == 2 && !first.isLoading }
    run.cancel()
    server.isOffline.withLock { $0 = true }
    let second = ListModel(reader.network)
    let again = Task { await second.run() }
    await settle { second.articles.count == 2 }
    again.cancel()
  }

  func test_search_waitsForAPause() async {
    let model = SearchModel(reader.network, scheduler: clock)
    for text in ["t", "te", "tea"] {
      model.text = text
      clock.advanceBy(100)
    }
    XCTAssertEqual(model.articles, [])
    clock.advanceBy(200)
    await settle { model.articles.map(\.title) == ["q=tea"] }
  }

  func test_signIn_showsTheUsersData_andSignOutEndsIt() async {
    let (form, list) = (SignInModel(reader), ListModel(reader.network))
    let run = Task { await list.run() }
    await settle { list.articles.first?.title == "Tea" }
    (form.user, form.password) = ("ada", "wrong")
    let refused = Work { await form.signIn() }
    await settle { form.note == "Wrong password" }
    form.password = "right"
    await settle { refused.isDone }
    let signIn = Work { await form.signIn() }
    await settle { form.isSignedIn && list.articles.first?.title == "Ada's Tea" }
    await settle { signIn.isDone }
    let signOut = Work { await form.signOut() }
    await settle { !form.isSignedIn && list.articles.first?.title == "Tea" }
    await settle { signOut.isDone }
    run.cancel()
  }

  func test_detail_showsTheText_andTheProgressOfAnUpload() async {
    let model = DetailModel(1, reader.network)
    let run = Task { await model.run() }
    await settle { model.text == "Green tea" && model.title == "Tea" }
    let upload = Work { await model.addPicture(URL(filePath: #filePath)) }
    await settle { model.progress == 0.5 }
    await settle { model.progress == nil }
    await settle { upload.isDone }
    XCTAssertNil(model.note)
    run.cancel()
  }

  func test_film_isUploadedInSpiteOfALostConnection() async throws {
    let film = FileManager.default.temporaryDirectory.appending(path: "film-\(UUID().uuidString).mp4")
    try Data("video".utf8).write(to: film)
    defer { try? FileManager.default.removeItem(at: film) }
    let model = DetailModel(1, reader.network)
    let upload = Work { await model.addFilm(film) }
    await settle { upload.isDone }
    XCTAssertNil(model.note)
    XCTAssertNil(model.progress)
    XCTAssertEqual(server.sentFilm.withLock { $0 }, ["PATCH 0", "HEAD ", "PATCH 3"])
  }

  func test_comment_survivesTheEndOfTheApp_andIsSentOnce() async throws {
    struct Online: Reachability { let isReachable = Observable.just(true) }
    let directory = FileManager.default.temporaryDirectory.appending(path: "comments-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    // Comments belong to a user.
    let form = SignInModel(reader)
    (form.user, form.password) = ("ada", "right")
    let signIn = Work { await form.signIn() }
    await settle { signIn.isDone }
    server.isOffline.withLock { $0 = true }
    do {
      let outbox = try Outbox(storingIn: directory, on: reader.network, reachability: Online())
      let model = CommentsModel(outbox, of: reader.user)
      outbox.start()
      model.add("Good tea", to: 1)
      await settle { model.unsent.map(\.text) == ["Good tea"] }
      XCTAssertNil(model.note)
      try await reader.signOut()
      await settle { model.unsent.isEmpty }
    }
    server.isOffline.withLock { $0 = false }
    form.password = "right"
    let again = Work { await form.signIn() }
    await settle { again.isDone }
    let outbox = try Outbox(storingIn: directory, on: reader.network, reachability: Online())
    let model = CommentsModel(outbox, of: reader.user)
    outbox.start()
    await settle { server.comments.withLock { $0.count } == 1 && model.unsent.isEmpty }
    XCTAssertEqual(model.note, nil)
  }
}

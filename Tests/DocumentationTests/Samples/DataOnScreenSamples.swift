import Foundation
import NetLayerQueries
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

struct Story: Decodable, Sendable {
  var id: Int
  var title: String
  var isLiked: Bool
}

extension [Story] {
  mutating func mark(_ id: Int) {
    for index in indices where self[index].id == id { self[index].isLiked = true }
  }
}

struct StoryDetail: Endpoint {
  typealias Output = Story
  let id: Int
  var path: String { "/stories/\(id)" }
}

struct Rename: Endpoint {
  typealias Output = Story
  let id: Int
  let title: String
  var path: String { "/stories/\(id)" }
  var method: HTTPMethod { .patch }
  var task: HTTPTask { .parameters(["title": title]) }
}

struct Feed: Endpoint {
  typealias Output = [Story]
  var path: String { "/feed" }
  var tags: Set<CacheTag> { ["stories"] }
}

struct Like: Endpoint {
  typealias Output = NoContent
  let id: Int
  var path: String { "/stories/\(id)/like" }
  var method: HTTPMethod { .post }
  var invalidates: Set<CacheTag> { ["stories"] }
}

@MainActor
final class FeedScreen {
  var stories: [Story] = []
  var note = ""

  func show(_ app: Network) async throws {
    for try await feed in app.watch(Feed()).values {
      stories = feed.value ?? []
      note = feed.error?.message ?? (feed.isFetching ? "Loading …" : "")
    }
  }

  func like(_ id: Int, _ app: Network) async {
    do {
      try await app.fetch(Like(id: id), editing: Feed()) { stories in
        for index in stories.indices where stories[index].id == id { stories[index].isLiked = true }
      }
    } catch {
      note = error.message
    }
  }
}

func triggers(app: Network, foreground: Observable<Void>, scrolledToEnd: Observable<Void>, bag: DisposeBag) {
  app.events(.get("/changes"))
    .subscribe(onNext: { app.invalidate([CacheTag(rawValue: $0.event)]) }, onError: { print($0) })
    .disposed(by: bag)
  foreground.subscribe(onNext: { app.refetchStale() }).disposed(by: bag)
  app.watch(Feed(), every: .seconds(30)).map(\.value?.count).distinctUntilChanged()
    .subscribe(onNext: { print($0 ?? 0) })
    .disposed(by: bag)
  app.watchPages(.get("/stories").tags(["stories"]), of: Story.self, loadingMoreOn: scrolledToEnd)
    .subscribe(onNext: { pages in print(pages.value?.flatMap(\.items).count ?? 0) })
    .disposed(by: bag)
}

func severalEdits(app: Network) async throws {
  try await app.fetch(
    Like(id: 7),
    edits: [Edit(Feed()) { $0.mark(7) }, Edit(StoryDetail(id: 7)) { $0.isLiked = true }])
  let renamed = try await app.fetch(Rename(id: 7, title: "Tea"), updating: StoryDetail(id: 7)) { $0.title = "Tea" }
  print(renamed.title)
}

final class DataOnScreenSamples: XCTestCase {
  func test_edit_thatIsRejected_isPrintedAsInTheGuide() throws {
    let bag = DisposeBag()
    let storiesURL = URL(string: "https://stories.example")

    let clock = TestScheduler(resolution: .milliseconds(1))
    let stub = StubTransport(on: clock) { request in
      request.method == .post
        ? .json("{}", status: 422, after: .milliseconds(10))
        : .json(#"[{"id":7,"title":"Tea","isLiked":false}]"#)
    }
    let app = Network(Backend(baseURL: storiesURL, transport: stub, clock: clock, mapping: clock))
    app.watch(Feed()).compactMap(\.value?.first)
      .subscribe(onNext: { print($0.isLiked ? "liked" : "not liked") })
      .disposed(by: bag)
    clock.start()
    app.request(Like(id: 7), editing: Feed()) { $0.mark(7) }
      .subscribe(onError: { print("error", ($0 as? NetworkError)?.code ?? 0) })
      .disposed(by: bag)
    clock.start()
    try assertPrinted(asIn: "DataOnScreen")
  }

  /// The next user sees nothing of the former one, not even without a network.
  @MainActor
  func test_screenOfTheGuide_showsNothingOfAFormerUser() async throws {
    let url = try XCTUnwrap(URL(string: "https://stories.example"))
    let stub = StubTransport { request in
      request.headers["Authorization"] == "Bearer a"
        ? .json(#"[{"id":7,"title":"ann's private story","isLiked":false}]"#)
        : .failure(.connection)
    }
    let login = AuthenticationInterceptor(
      for: [url], store: MemoryTokenStore(Token(access: "a", account: "ann"))
    ) { _ in .never() }
    let app = Network(Backend(baseURL: url, transport: stub, interceptors: [login]))
    let screen = FeedScreen()
    let showing = Task { try await screen.show(app) }
    try await eventually("the condition holds") { !screen.stories.isEmpty }
    try await login.setToken(nil)
    try await eventually("the condition holds") { screen.stories.isEmpty }
    try await login.setToken(Token(access: "b", account: "bob"))
    try await eventually("the condition holds") { !(screen.note.isEmpty || screen.note == "Loading …") }
    XCTAssertEqual(screen.stories.map(\.title), [])
    showing.cancel()
  }
}

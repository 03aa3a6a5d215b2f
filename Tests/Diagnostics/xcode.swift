// The names that the first pages use and do not declare, and an XCTest class, in a module on the main actor.
import Foundation
import NetLayer
import NetLayerOffline
import NetLayerQueries
import NetLayerTesting
import StreamsTesting
import XCTest

nonisolated final class NameTests: XCTestCase {
  func test_fetch_returnsTheModel() async throws {
    let transport = StubTransport { _ in .json("{}") }
    let network = Network(Backend(baseURL: URL(string: "https://a.example"), transport: transport))
    let text = try await network.fetch(.get("/"), as: String.self)
    XCTAssertEqual(text, "{}")
  }
}

nonisolated struct Person: Decodable, Sendable { var name: String }
nonisolated struct Post: Decodable, Sendable { var title: String }
nonisolated struct Note: Codable, Sendable { var text: String }
nonisolated struct Order: Decodable, Sendable { var id: Int }
nonisolated struct Story: Codable, Sendable, Equatable {
  var id = 0
  var title = ""
  var isLiked = false
}
nonisolated extension [Story] {
  mutating func mark(_ id: Int) { for index in indices where self[index].id == id { self[index].isLiked = true } }
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
  var method: HTTPMethod { .put }
}
struct TestReachability: Reachability {
  let isOn = BehaviorRelay(value: false)
  var isReachable: Observable<Bool> { isOn.asObservable() }
}
let url = URL(filePath: "/tmp")
let (githubURL, photosURL, storiesURL, notesURL, directory) = (url, url, url, url, url)
nonisolated let (github, app) = (Network(), Network())
let network = TestReachability()
let bag = DisposeBag()
let typed = Observable<String>.empty()
let (foreground, scrolledToEnd) = (PublishSubject<Void>(), PublishSubject<Void>())
let scheduler: any SchedulerType = MainScheduler.instance
let clock = TestScheduler(resolution: .milliseconds(1))
let stub = StubTransport { _ in .json("{}") }
let entries: [Outbox.Entry] = []
var outbox: Outbox { get throws { try Outbox(storingIn: directory, on: app) } }

// The names that the samples of the doc comments use.
import Foundation
import NetLayer
import NetLayerInspector
import NetLayerOffline
import NetLayerQueries
import NetLayerRecording
import NetLayerTesting
import Observation

struct User: Codable, Sendable { var id = 0; var name = "" }
struct Repo: Codable, Sendable { var id: Int }
struct NewRepo: Codable, Sendable { var name: String }
struct Delta: Codable, Sendable { var text: String }
struct Line: Codable, Sendable { var id: Int }
struct SearchQuery: Codable, Sendable { var page: Int }
struct Refused: Error { var code: Int; var words: String? }
struct GitHubError: Codable, Sendable { var errors: [String] }
struct MovieAPIResponse: Codable, Sendable { var page: Int }
enum MovieAPI: Endpoint {
  case newMovies(page: Int)
  var path: String { "/movies" }
}
enum GitHub: Endpoint {
  case userProfile(String)
  var path: String { "/users" }
}
enum TestAPI {
  static let m = Call.get("/m").as(User.self)
}
struct UserDetail: Endpoint {
  typealias Output = User
  let id: Int
  var path: String { "/users/\(id)" }
}

struct Queue: Codable, Sendable { var name = "" }
struct Session: Sendable { var name = ""; var key = "" }
struct Message: Codable, Sendable { var text = "" }
struct Report: Codable, Sendable { var text = "" }
struct Price: Codable, Sendable { var cents = 0 }
struct Headline: Codable, Sendable { var title = "" }
struct Part: Codable, Sendable { var done = false }
struct Post: Codable, Sendable, Hashable { var id = 0; var isLiked = false }
struct Feed: Endpoint {
  typealias Output = [Post]
  var path: String { "/feed" }
}
struct Like: Endpoint {
  typealias Output = NoContent
  let id: Int
  var path: String { "/like" }
}
struct AddNote: Endpoint, Codable {
  let text: String
  var path: String { "/notes" }
}

let network = Network()
let urls: [String] = []
nonisolated(unsafe) var options = WebSocketOptions()
#if canImport(CLibcurl)
  var transport: CurlTransport { get throws { try CurlTransport() } }
#endif
let app = Network()
let chat = Network()
let files = Network()
let name = ""
let password = ""
let xml = Data()
let jar = CookieJar()
let github = Network()
let login = Network()
let url = URL(filePath: "/")
let shopURL = url
let metricsURL = url
let file = url
let film = url
let photo = url
let secret = ""
let tag = "a"
let repo = NewRepo(name: "x")
let prompt = NewRepo(name: "x")
let address = NewRepo(name: "x")
let refresh: @Sendable (Token?) async throws -> Token = { _ in throw CancellationError() }
let rows: AsyncStream<Line> = AsyncStream { $0.finish() }
let export = Call.get("/export")
nonisolated(unsafe) var request = Request(url: url)
let response = Response(request: request)
let bag = DisposeBag()
func show(_ value: some Sendable) {}
func count(_ value: some Sendable) {}
func store(_ line: Line) async {}

actor Clock { func stamp() -> String { "" } }
let clock = Clock()

@MainActor @Observable
final class Model {
  var query = ""
  var results: [User] = []
}

@MainActor
final class Screen {
  var results: [User] = []
  var posts: [Post] = []
  var note = ""
}
struct Search: Sendable { let results = Observable.just([User()]) }
let search = Search()
let query = PublishSubject<String>()
struct API: Sendable {
  func search(_ text: String) async throws -> [User] { [] }
  func feed(after cursor: String?) async throws -> Page<User> { Page(items: []) }
}
let api = API()
struct Microphone: Sendable { let chunks: AsyncStream<Data> }
let microphone = Microphone(chunks: AsyncStream { $0.finish() })
let support = url
let directory = url
@MainActor let model = Model()
let handle = FileHandle.standardOutput
extension Network {
  func feed(cursor: String?) -> Observable<Page<User>> { json(.get, "/feed").list() }
  func movies(page: Int) -> Observable<Page<User>> { json(.get, "/movies").list() }
}

/// The response of a token server, as the app reads it.
struct Grant: Decodable, Sendable {
  var accessToken: String
  var token: Token { Token(access: accessToken) }
}

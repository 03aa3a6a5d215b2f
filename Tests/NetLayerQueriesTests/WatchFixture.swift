import Foundation
import NetLayer
import NetLayerTesting
import StreamsTesting
import TestSupport
import XCTest

@testable import NetLayer
@testable import NetLayerQueries

/// A list of numbers, the data of most tests.
struct Posts: Endpoint {
  typealias Output = [Int]
  var path = "/feed"
  var headers: HTTPHeaders = [:]
  var caching = CacheOptions()
  var tags: Set<CacheTag> { ["posts"] }
}

/// The same response, read as another type.
struct PostTexts: Endpoint {
  typealias Output = [String]
  var path: String { "/feed" }
}

/// A write that adds a number to a list.
struct AddPost: Endpoint {
  typealias Output = NoContent
  var number: Int
  var target = "/feed"
  var invalidates: Set<CacheTag> = []
  var path: String { target + "/add" }
  var method: HTTPMethod { .post }
  var task: HTTPTask { .parameters(["number": number]) }
}

/// A server with lists of numbers, and screens that watch them, in virtual time whose unit is a millisecond.
final class WatchFixture: Sendable {
  typealias Reply = StubTransport.StubbedResponse

  struct Server: Sendable {
    var lists: [String: [Int]] = ["/feed": [1]]
    /// The fields of each response.
    var headers: HTTPHeaders = [:]
    /// The next responses to a method and path, before those of the lists.
    var script: [String: [Reply]] = [:]
    var roundTrip = Duration.milliseconds(10)
  }

  let scheduler = TestScheduler(resolution: .milliseconds(1))
  let server = Box(Server())
  let stub: StubTransport
  let cache: ResponseCache?
  let network: Network
  let errors = Notes()

  init(
    caches: Bool = false, policy: CachePolicy = .http, interceptors: [any Interceptor] = [],
    delivery: (any ImmediateSchedulerType)? = nil
  ) {
    stub = StubTransport(on: scheduler) { [server] request in server.update { Self.reply(to: request, &$0) } }
    cache = caches ? ResponseCache(storingIn: nil, clock: scheduler) : nil
    network = Network(
      Backend(
        baseURL: URL(string: "http://h"), transport: stub, clock: scheduler, mapping: scheduler, delivery: delivery,
        interceptors: (cache.map { [CacheInterceptor($0, policy: policy)] } ?? []) + interceptors,
        onError: { [errors] in errors.add("\($0.kind)") }))
  }

  private static func reply(to request: Request, _ server: inout Server) -> Reply? {
    let path = request.url.path
    if let next = server.script["\(request.method) \(path)"]?.first {
      server.script["\(request.method) \(path)"]?.removeFirst()
      return next
    }
    if request.method == .post {
      let number = (try? JSON(parsing: Data(request.text.utf8)))?["number"].int ?? 0
      server.lists[String(path.dropLast(4)), default: []].append(number)
      return .json("{}", after: server.roundTrip)
    }
    let text = "\(server.lists[path] ?? [])"
    if let tag = server.headers["ETag"], request.headers["If-None-Match"] == tag {
      return .response(status: 304, headers: server.headers, after: server.roundTrip)
    }
    return .response(headers: server.headers, body: Data(text.utf8), after: server.roundTrip)
  }

  /// Scripts the next responses to a method and path.
  func script(_ call: String, _ replies: Reply...) { server.update { $0.script[call, default: []] += replies } }

  func set(_ list: [Int], at path: String = "/feed") { server.update { $0.lists[path] = list } }

  /// A list as the response to `call`.
  static func list(_ numbers: [Int], after delay: Int = 10) -> Reply {
    .json("\(numbers)", after: .milliseconds(delay))
  }

  /// A write that the server applies when it is sent, with a scripted response.
  func add(_ number: Int, _ reply: Reply? = nil, to path: String = "/feed", applies: Bool = true) -> Single<NoContent> {
    request(AddPost(number: number, target: path), number, reply, to: path, applies: applies)
  }

  func request(
    _ write: AddPost, _ number: Int, _ reply: Reply?, to path: String = "/feed", applies: Bool = true
  ) -> Single<NoContent> {
    if let reply {
      script("POST \(path)/add", reply)
      if applies { server.update { $0.lists[path, default: []].append(number) } }
    }
    return network.request(write, editing: Posts(path: path)) { $0.append(number) }
  }

  /// Subscribes and records the result.
  @discardableResult
  func run<Result>(_ single: Single<Result>, _ notes: Notes = Notes()) -> (result: Notes, work: any Disposable) {
    let work = single.subscribe(
      onSuccess: { _ in notes.add("success") }, onError: { notes.add("\(NetworkError.wrapping($0).kind)") })
    return (notes, work)
  }

  func watch<E: Endpoint>(_ endpoint: E, on other: Network? = nil, every interval: Duration? = nil) -> Screen {
    Screen((other ?? network).watch(endpoint, every: interval).map { snapshotText($0) })
  }

  func watch() -> Screen { watch(Posts()) }

  func advance(_ milliseconds: Int) { scheduler.advanceBy(milliseconds) }

  var reads: Int { stub.requests.count { $0.method == .get } }
  var writes: Int { stub.requests.count { $0.method == .post } }

  /// Checks that nothing is left when nobody watches.
  func checkEnd(line: UInt = #line) {
    XCTAssertEqual(network.watching.counts, [0, 0], "left", line: line)
  }
}

func snapshotText<Value>(_ snapshot: Snapshot<Value>) -> String {
  var words = [snapshot.value.map { "\($0)" } ?? "nil"]
  if snapshot.isFetching { words.append("fetching") }
  if snapshot.isStale { words.append("stale") }
  if snapshot.isEdited { words.append("edited") }
  if let error = snapshot.error { words.append("\(error.kind)") }
  return words.joined(separator: " ")
}

/// The snapshots that a subscriber has received.
final class Screen: Sendable {
  private let notes = Notes()
  private let subscription: any Disposable

  init(_ snapshots: Observable<String>) {
    subscription = snapshots.subscribe(
      onNext: { [notes] in notes.add($0) }, onError: { [notes] in notes.add("failed \($0)") },
      onCompleted: { [notes] in notes.add("completed") })
  }

  var all: [String] { notes.all }
  var last: String { notes.all.last ?? "" }
  func leave() { subscription.dispose() }
}

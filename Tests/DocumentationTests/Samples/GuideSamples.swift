import Foundation
import NetLayerTesting
import Streams
import StreamsTesting
import XCTest

struct Todo: Codable, Sendable {
  var title: String
  var dueAt: Date
}

struct TodoDetail: Endpoint {
  typealias Output = Todo
  let id: Int
  var path: String { "/todos/\(id)" }
}

struct NewTodo: Encodable, Sendable {
  var title: String
}

struct AddTodo: Endpoint {
  typealias Output = Todo
  let todo: NewTodo
  let dryRun: Bool
  var path: String { "/todos" }
  var method: HTTPMethod { .post }
  var query: Parameters { ["dry_run": dryRun] }
  var task: HTTPTask { .json(todo) }
  var timeout: Duration? { .seconds(30) }
}

struct Invalid: Decodable, Sendable {
  var fields: [String]
}

struct PlaceOrder: Endpoint {
  typealias Output = NoContent
  typealias Failure = Invalid
  var path: String { "/orders" }
  var method: HTTPMethod { .post }
}

func title(of id: Int, on network: Network) async throws(NetworkError) -> String {
  let todo: Todo = try await network.fetch(.get("/todos/\(id)"))
  return todo.title
}

func streams(todos: Network, bag: DisposeBag) {
  todos.request(.get("/todos/7"), as: Todo.self)
    .subscribe(onSuccess: { print($0.title) }, onError: { print($0.localizedDescription) })
    .disposed(by: bag)
}

/// Runs the samples of the guides on plain APIs, errors, paging and tests.
final class GuideSamples: XCTestCase {
  private struct Order: Codable, Sendable {
    var id: Int
  }

  private struct Found: Decodable, Sendable {
    var orders: [Order]
    var next: String?
  }

  private let todosURL = URL(string: "https://todos.example")
  private let tea = #"{"title":"Tea","due_at":"1970-01-01T00:00:00Z"}"#

  func test_plainAPIs() async throws {
    let (todosURL, tea) = (todosURL, tea)
    let file = FileManager.default.temporaryDirectory.appending(path: "todo-\(UUID().uuidString).txt")
    try Data("0123456789".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let stub = StubTransport { request in
      switch (request.method, request.url.path) {
      case (.post, "/todos"):
        guard case .data(let body) = request.body else { return nil }
        return .response(status: 201, body: body)
      case (.patch, _): return .response(status: 204)
      case (.post, "/files"):
        return .response(status: 201).reporting([.init(sent: 5, sendTotal: 10), .init(sent: 10, sendTotal: 10)])
      case (_, "/export"): return .chunks([Data("abc".utf8), Data("def".utf8)])
      default: return .response(headers: ["ETag": "\"v1\""], body: Data(tea.utf8))
      }
    }
    let plain = Network(
      Backend(baseURL: todosURL, coding: .snakeCaseISO8601))
    let todos = plain.with { $0.transport = stub }

    let todo = Todo(title: "Tea", dueAt: Date(timeIntervalSince1970: 0))
    let saved = try await todos.fetch(.post("/todos", json: todo), as: Todo.self)
    try await todos.fetch(.patch("/todos/7", parameters: ["title": "Green tea", "done": false]))
    print("\(saved.title), \(saved.dueAt.timeIntervalSince1970)")
    try assertPrinted(asIn: "PlainAPIs", 0)

    let call = Call.get("/todos?done=false", query: ["page": 2])
      .header("Accept-Language", "zh")
      .timeout(.seconds(5))
    try await todos.fetch(call)
    XCTAssertEqual(stub.requests.last?.url.query(), "done=false&page=2")

    let text = try await todos.fetch(.get("/todos/7"), as: String.self)
    let json = try await todos.fetch(.get("/todos/7"), as: JSON.self)
    let response = try await todos.fetch(.get("/todos/7"))
    print("\(text.count) characters, \(json["title"].string ?? ""), \(response.headers["ETag"] ?? "none")")
    try assertPrinted(asIn: "PlainAPIs", 2)

    let detail = try await todos.fetch(TodoDetail(id: 7))
    XCTAssertEqual(detail.title, "Tea")

    _ = try await todos.response(AddTodo(todo: NewTodo(title: "Tea"), dryRun: true))
    XCTAssertEqual(stub.requests.last?.url.query(), "dry_run=1")
    XCTAssertEqual(stub.requests.last?.timeouts.call, .seconds(30))

    try await todos.fetch(.post("/files", .upload(file))) { progress in
      print(progress.fractionSent ?? 0)
    }
    try assertPrinted(asIn: "PlainAPIs", 4)

    let size = try await todos.withStream(.get("/export")) { streamed in
      var size = 0
      for try await chunk in streamed.chunks { size += chunk.count }
      return size
    }
    print(size)
    try assertPrinted(asIn: "PlainAPIs", 5)
  }

  func test_paging() async throws {
    let stub = StubTransport { request in
      let query = request.url.query() ?? ""
      switch request.url.path {
      case "/orders" where query.isEmpty:
        return .response(headers: ["Link": "</orders?page=2>; rel=next"], body: Data(#"[{"id":1},{"id":2}]"#.utf8))
      case "/orders": return .json(#"[{"id":3}]"#)
      case "/feed" where query.isEmpty: return .json(#"{"items":[{"id":1},{"id":2}],"meta":{"next":"c2","total":3}}"#)
      case "/feed": return .json(#"{"items":[{"id":3}],"meta":{}}"#)
      case "/find": return .json(#"{"orders":[{"id":1}],"next":null}"#)
      default: return .json(query.contains("p=1") || query.contains("offset=0") ? #"[{"id":1}]"# : "[]")
      }
    }
    let shop = Network(Backend(baseURL: URL(string: "https://shop.example"), transport: stub))

    let byLink = shop.pages(.get("/orders"), of: Order.self)
    let byCursor = shop.pages(.get("/feed"), of: Order.self, at: "items", by: .cursor(at: "meta.next"))
    let byNumber = shop.pages(.get("/search", query: ["q": "tea"]), of: Order.self, by: .number(parameter: "p"))
    let byOffset = shop.pages(.get("/history"), of: Order.self, by: .offset())
    let byField = shop.pages(.get("/list"), of: Order.self, by: .link(header: "Next-Page"))
    let byHeader = shop.pages(.get("/list"), of: Order.self, by: .cursor(header: "X-Next-Page", parameter: "page"))
    for (pages, count) in [(byField, 1), (byHeader, 1), (byLink, 2), (byNumber, 1), (byOffset, 1)] {
      let all = try await pages.toArray().value
      XCTAssertEqual(all.count, count)
    }

    for try await page in byCursor.values {
      print(page.items.map(\.id), page.cursor ?? "last")
    }
    try assertPrinted(asIn: "ReadingAllPages", 0)

    for try await page in byCursor.take(1).values {
      print(try page.response?.json()["meta"]["total"].int ?? 0)
    }
    try assertPrinted(asIn: "ReadingAllPages", 1)

    let broker = Network(
      Backend(
        baseURL: URL(string: "http://rabbit.example"),
        transport: StubTransport { request in
          request.url.query()?.contains("page=1") == true
            ? .json(#"{"items":[{"name":"tasks"},{"name":"mails"}],"page_count":2}"#)
            : .json(#"{"items":[{"name":"logs"}],"page_count":2}"#)
        }))
    let queues = broker.pages(
      .get("/queues", query: ["page_size": 2]), of: Project.self, at: "items", by: .number(pages: "page_count"))
    for try await page in queues.values { print(page.items.map(\.name)) }
    try assertPrinted(asIn: "ReadingAllPages", 3)

    var next: Call? = .get("/orders")
    while let call = next {
      let response = try await shop.fetch(call)
      print(try response.decode([Order].self).map(\.id))
      next = response.links["next"].map { .get($0) }
    }
    try assertPrinted(asIn: "ReadingAllPages", 4)

    let pages = Observable.pages(startingAt: nil) { cursor in
      let found = try await shop.fetch(.post("/find", parameters: ["after": cursor]), as: Found.self)
      return Page(items: found.orders, cursor: found.next)
    }
    let found = try await pages.toArray().value
    XCTAssertEqual(found.map(\.items.count), [1])
  }

  func test_typedErrors() async throws {
    let stub = StubTransport { _ in .json(#"{"detail":"Check these fields","fields":["amount"]}"#, status: 422) }
    let api = Network(Backend(baseURL: todosURL, transport: stub))

    do throws(NetworkError) {
      try await api.fetch(.post("/orders", parameters: ["item": "tea"]))
    } catch {
      guard error.status == 422 else { throw error }
      let invalid = try error.body(as: Invalid.self)
      print("\(error.message): \(invalid.fields.joined(separator: ", "))")
    }
    try assertPrinted(asIn: "WhenCallsFail", 2)

    do {
      _ = try await api.fetch(PlaceOrder())
    } catch {
      print(try error.body(of: PlaceOrder.self).fields)
    }
    try assertPrinted(asIn: "WhenCallsFail", 3)
  }

  func test_testingCalls() async throws {
    let stub = StubTransport([
      .init(.get, "/todos/7", .json(#"{"title":"Tea","due_at":"1970-01-01T00:00:00Z"}"#)),
      .init(.get, "/todos/8", .failure(.timeout)),
    ])
    let network = Network(Backend(baseURL: todosURL, coding: .snakeCaseISO8601, transport: stub))

    let found = try await title(of: 7, on: network)
    XCTAssertEqual(found, "Tea")
    XCTAssertEqual(stub.requests.map(\.url.path), ["/todos/7"])

    do {
      _ = try await title(of: 8, on: network)
      XCTFail("a timeout must throw")
    } catch {
      XCTAssertEqual(error.kind, .timeout)
    }
  }
}

import Foundation
import LoopbackServer
import NetLayer
import NetLayerInspector
import Synchronization

/// An app whose calls show everything that the page can show.
struct Gallery {
  private struct Notifications: Endpoint {
    let path = "/v2/notifications"
  }

  private struct Settings: Endpoint {
    let path = "/v2/me/settings"
  }

  private let server: TestServer
  private let image = Data(
    base64Encoded:
      "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAFElEQVR42mNkYPhfz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC")

  init() throws {
    let attempts = Mutex(0)
    var routes = TestServer.Routes()
    routes.on("GET", "/v2/session/current") { _ in .json(#"{"user":"zoe"}"#).delayed(by: 0.03) }
    routes.on("GET", "/v2/feed") { _ in
      .json(
        #"{"code":200,"data":{"items":[{"id":9007199254740993,"title":"Morning in Lisbon","likes":0,"author":{"name":"Zoe","city":"Porto"},"tags":["sea","light"]},{"id":9007199254740994,"title":"Fog","likes":12,"author":{"name":"Li","city":"上海"},"tags":[]}],"cursor":"b3A9Nw=="},"message":"ok"}"#
      ).delayed(by: 0.12)
    }
    routes.on("GET", "/v2/me/settings") { _ in
      .json(#"{"theme":"dark"}"#).header("Cache-Control", "max-age=600").delayed(by: 0.02)
    }
    routes.on("GET", "/v2/notifications") { _ in
      switch attempts.withLock({
        $0 += 1; return $0
      }) {
      case 1: .json("{}", status: 503).delayed(by: 0.2)
      case 2: .resetMidBody().delayed(by: 0.03)
      default: .json(#"{"unread":3}"#).delayed(by: 0.1)
      }
    }
    routes.on("POST", "/v2/posts/311/like") { _ in .json(#"{"code":4001,"message":"already liked"}"#).delayed(by: 0.06)
    }
    routes.on("GET", "/v2/profile/zoe") { request in
      request.header("If-None-Match") == nil
        ? .json(#"{"name":"Zoe"}"#).header("ETag", "\"1\"").header("Cache-Control", "max-age=0").delayed(by: 0.04)
        : .init(status: 304, headers: [("ETag", "\"1\"")]).delayed(by: 0.03)
    }
    routes.on("GET", "/old/albums") { _ in .redirect(to: "/v2/albums").delayed(by: 0.05) }
    routes.on("GET", "/v2/albums") { _ in .json("[1,2,3]").delayed(by: 0.06) }
    routes.on("GET", "/v2/search") { _ in .json(#"{"message":"q is too long"}"#, status: 400).delayed(by: 0.05) }
    routes.on("GET", "/report.csv") { _ in .neverResponding }
    routes.on("PUT", "/v2/photos/88/original") { _ in .json(#"{"id":88}"#, status: 201).delayed(by: 0.3) }
    routes.on("GET", "/v2/missing") { _ in .json(#"{"message":"not found"}"#, status: 404).delayed(by: 0.03) }
    routes.on("GET", "/v2/export.ndjson") { _ in .endless(.init(Array(repeating: 120, count: 4_000), after: 0.02)) }
    routes.on("GET", "/v2/events") { _ in
      .stream(
        (1...400).map { .init("id: \($0)\nevent: like\ndata: {\"post\":\($0)}\n\n", after: $0 % 5 == 0 ? 0.9 : 0.11) },
        type: "text/event-stream")
    }
    let image = image.map { [UInt8]($0) } ?? []
    routes.on("GET", "/a/:name") { _ in .bytes(image, type: "image/png").delayed(by: 0.04) }
    server = try TestServer { [routes] request in
      guard request.path == "/room/7" else { return routes.respond(to: request) }
      return .socket(.init(onOpen: [.text(#"{"hello":7}"#), .wait(0.4), .text(#"{"typing":"Li"}"#), .wait(60)]))
    }
  }

  func run() async throws {
    let recorder = Recorder()
    let inspector = try Inspector(recorder)
    tell(inspector.url.absoluteString)
    let retry = RetryInterceptor(policy: RetryPolicy(initialDelay: .milliseconds(310), jitter: { $0.upperBound }))
    let cache = CacheInterceptor(ResponseCache(storingIn: nil))
    let app = Network(
      Backend(baseURL: server.url, interceptors: [CoalescingInterceptor(), cache, retry, recorder]))
    let wrapped = Network(Backend(baseURL: server.url, envelope: .standard, interceptors: [recorder]))
    let cdn = Network(
      Backend(baseURL: URL(string: "http://localhost:\(server.port)") ?? server.url, interceptors: [recorder]))

    try await app.fetch(.get("/v2/session/current"))
    async let first = app.fetch(.get("/v2/feed", query: ["page": 1, "sort": "new"]), as: JSON.self)
    async let second = app.fetch(.get("/v2/feed", query: ["page": 1, "sort": "new"]), as: JSON.self)
    _ = try await (first, second)
    _ = try await app.fetch(Settings())
    async let images: Void = withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<4 { group.addTask { try await cdn.fetch(.get("/a/\(number).png")) } }
      try await group.waitForAll()
    }
    _ = try await app.fetch(Settings())
    try await images
    _ = try await app.fetch(Notifications())
    _ = try? await wrapped.fetch(.post("/v2/posts/311/like"), as: Bool.self)
    for _ in 1...2 { try await app.fetch(.get("/v2/profile/zoe")) }
    try await app.fetch(.get("/old/albums"))
    _ = try? await app.fetch(.get("/v2/search", query: ["q": "首页 sunset over the harbour"]))
    let events = wrapped.events(.get("/v2/events")).subscribe(onNext: { _ in }, onError: { _ in })
    let socket = wrapped.webSocket(.get("/room/7"))
    let messages = socket.messages.subscribe(onNext: { _ in }, onError: { _ in })
    async let late: Response? = try? cdn.fetch(.get("/report.csv").timeout(.seconds(2)).header("X-Report", "daily"))
    let photo = HTTPTask.data(Data(repeating: 1, count: 2 << 20), contentType: "image/jpeg")
    try await app.fetch(Call(.put, "/v2/photos/88/original", task: photo))
    _ = try? await app.fetch(.get("/v2/missing"))
    let export = Task { try await wrapped.withStream(.get("/v2/export.ndjson")) { for try await _ in $0.chunks {} } }
    try await Task.sleep(for: .milliseconds(400))
    export.cancel()
    _ = await late
    _ = try await app.fetch(.get("/v2/feed", query: ["page": 2, "sort": "new"]), as: JSON.self)
    tell("ready")
    await waitForEnd()
    events.dispose()
    messages.dispose()
    withExtendedLifetime(inspector) {}
  }
}

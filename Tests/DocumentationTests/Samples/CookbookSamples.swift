import Foundation
import NetLayer
import NetLayerTesting
import Streams
import XCTest

private struct Job: Decodable, Sendable {
  var id: Int
  var isDone: Bool
}

struct Viewer: Decodable, Sendable {
  struct User: Decodable, Sendable {
    var name: String
  }
  var user: User?
}

/// Runs each recipe of the cookbook, and compares its output with the page.
final class CookbookSamples: XCTestCase {
  private let url = URL(string: "https://api.example")

  private func network(_ reply: @escaping @Sendable (Request) -> StubTransport.StubbedResponse?) -> Network {
    Network(Backend(baseURL: url, transport: StubTransport(reply)))
  }

  private func network(_ reply: StubTransport.StubbedResponse) -> Network { network { _ in reply } }

  /// A server that responds with the path.
  private var echo: Network { network { .response(body: Data($0.url.path().utf8)) } }

  func test_addAHeaderToEveryCallAndAnotherToOne() async throws {
    let url = url
    let stub = StubTransport { _ in .json("{}") }

    let api = Network(Backend(baseURL: url, headers: ["X-App": "reader/1.0"], transport: stub))
    try await api.fetch(.get("/news").header("Accept-Language", "zh"))
    print(stub.requests.last?.headers["X-App"] ?? "", stub.requests.last?.headers["Accept-Language"] ?? "")
    try assertPrinted(asIn: "Cookbook", 0)
  }

  func test_sendAnApiKeyOrAUserNameAndAPassword() async throws {
    let url = url
    let (key, filesURL) = ("k", URL(string: "https://files.example"))

    let withKey = Network(Backend(baseURL: url, headers: ["X-Api-Key": key]))
    let withPassword = Network(Backend(baseURL: url, headers: .basic(user: "ada", password: "secret")))
    let files = withKey.with { $0.baseURL = filesURL }
    _ = (withPassword, files)
  }

  func test_cancelACall() async throws {
    let api = network { _ in .never }

    let call = Task { try await api.fetch(.get("/slow"), as: String.self) }
    call.cancel()
    do { _ = try await call.value } catch { print((error as? NetworkError)?.kind == .cancelled) }
    try assertPrinted(asIn: "Cookbook", 1)
  }

  func test_limitTheTimeOfOneCall() async throws {
    let api = network { _ in .response(body: Data("7.5".utf8)) }

    let quick = try await api.fetch(.get("/quote").timeout(.seconds(2)), as: String.self)
    print(quick)
    try assertPrinted(asIn: "Cookbook", 2)
  }

  func test_retryOneCall() async throws {
    let api = network(.sequence([.failure(.timeout), .response(body: Data("7.5".utf8))]))

    let price = try await api.request(.get("/price"), as: String.self)
      .retry(RetryPolicy(attempts: 3, initialDelay: .milliseconds(1)))
      .value
    print(price)
    try assertPrinted(asIn: "Cookbook", 3)
  }

  func test_pollUntilAJobIsDone() async throws {
    let api = network(
      .sequence([
        .json(#"{"id":1,"isDone":false}"#), .json(#"{"id":1,"isDone":false}"#), .json(#"{"id":1,"isDone":true}"#),
      ]))

    var job = try await api.fetch(.post("/jobs"), as: Job.self)
    while !job.isDone {
      try await Task.sleep(for: .milliseconds(1))
      job = try await api.fetch(.get("/jobs/\(job.id)"), as: Job.self)
    }
    print("job \(job.id) is done")
    try assertPrinted(asIn: "Cookbook", 4)
  }

  func test_callTwoEndpointsConcurrently() async throws {
    let api = echo

    async let user = api.fetch(.get("/user"), as: String.self)
    async let news = api.fetch(.get("/news"), as: String.self)
    print(try await user, try await news)
    try assertPrinted(asIn: "Cookbook", 5)
  }

  func test_callOneEndpointForManyValuesAtMostFourConcurrently() async throws {
    let api = echo

    let all = try await api.zip((1...6).map { Call.get("/items/\($0)") }, as: String.self, maxConcurrent: 4).value
    print(all.count, all.last ?? "")
    try assertPrinted(asIn: "Cookbook", 6)

    let results = try await Observable.from(1...6)
      .map { api.request(.get("/items/\($0)"), as: String.self).asResult() }
      .merge(maxConcurrent: 4).toArray().value
    XCTAssertEqual(results.compactMap { try? $0.get() }.sorted(), (1...6).map { "/items/\($0)" })
  }

  func test_useASecondServerIfTheFirstOneFails() async throws {
    let api = network { _ in .failure(.connection) }
    let mirror = network { _ in .response(body: Data("from the mirror".utf8)) }

    let value = try await api.request(.get("/value"), as: String.self)
      .asObservable()
      .catchError { _ in mirror.request(.get("/value"), as: String.self).asObservable() }
      .asSingle().value
    print(value)
    try assertPrinted(asIn: "Cookbook", 7)
  }

  func test_readAPartOfABody() async throws {
    let api = network { _ in .json(#"{"result":{"items":["tea","rice"]}}"#) }

    let names = try await api.fetch(.get("/search")).decode([String].self, at: "result.items")
    print(names)
    try assertPrinted(asIn: "Cookbook", 8)
  }

  func test_lenientJson() async throws {
    let stub = StubTransport { _ in .json(#"{"data":[{"id":"12","can_delete":1}]}"#) }
    let cloud = Network(Backend(baseURL: url, transport: stub))

    let shares = try await cloud.fetch(.get("/shares"), as: JSON.self).lenient
    for share in shares["data"].array ?? [] {
      print(share["id"].int ?? 0, share["can_delete"].bool ?? false)
    }
    try assertPrinted(asIn: "MigratingFromSwiftyJSON", 0)
  }

  func test_readJsonWithoutAModel() async throws {
    let api = network { _ in .json(#"{"result":{"items":["tea","rice"],"total":2}}"#) }

    let json = try await api.fetch(.get("/search"), as: JSON.self)
    print(json["result"]["items"][0].string ?? "none", json[at: "result.total"].int ?? 0)
    try assertPrinted(asIn: "Cookbook", 9)
  }

  func test_skipInvalidItemsOfAList() async throws {
    let api = network { _ in .json(#"[1,"x",3]"#) }

    let page = try await api.json(.get("/items"))
      .list(Int.self, onInvalidElement: { index, _ in print("skipped \(index)") })
      .asSingle().value
    print(page.items)
    try assertPrinted(asIn: "Cookbook", 10)
  }

  func test_readTheNextPageManually() async throws {
    let api = network { _ in .response(headers: ["Link": "<?page=2>; rel=next"]) }

    let first = try await api.fetch(.get("/list"))
    if let next = first.links["next"] { print(next.absoluteString) }
    try assertPrinted(asIn: "Cookbook", 11)
  }

  func test_changeSomethingOnlyIfNobodyElseHas() async throws {
    let api = network { request in
      request.method == .put ? .response(status: 412) : .response(headers: ["ETag": "\"v1\""])
    }

    let note = try await api.fetch(.get("/notes/7"))
    if let tag = note.headers["ETag"] ?? note.trailers["ETag"] {
      let saved = try await api.response(.put("/notes/7", json: ["text": "tea"]).header("If-Match", tag))
      print(saved.status == 412 ? "changed meanwhile" : "saved")
    }
    try assertPrinted(asIn: "Cookbook", 12)
  }

  func test_sendAGraphqlQuery() async throws {
    let url = url
    let stub = StubTransport { request in
      guard case .data(let body) = request.body, let json = try? JSON(parsing: body) else { return nil }
      XCTAssertEqual(json["variables"]["first"].int, 10)
      XCTAssertTrue(json["variables"]["after"].isNull)
      return json["variables"]["id"].string == "7"
        ? .json(#"{"data":{"user":{"name":"Ada"}}}"#)
        : .json(#"{"data":{"user":null},"errors":[{"message":"Sign in first"}]}"#)
    }

    let graph = Network(Backend(baseURL: url, envelope: .graphQL, transport: stub))
    let query = "query($id: ID!, $first: Int, $after: String) { user(id: $id) { name } }"
    for id in ["7", "8"] {
      let variables: JSON = ["id": JSON(id), "first": 10, "after": nil]
      let call = Call.post("/graphql", json: ["query": JSON(query), "variables": variables] as JSON)
      do {
        let viewer = try await graph.fetch(call, as: Viewer.self)
        print(viewer.user?.name ?? "nobody")
      } catch {
        let partial = try error.response?.decode(Viewer.self, at: "data")
        print(error.message, partial?.user?.name ?? "nobody")
      }
    }
    try assertPrinted(asIn: "Cookbook", 13)
  }

  func test_showACallAsACurlCommand() async throws {
    let api = network { _ in .json("{}") }

    let response = try await api.fetch(.post("/pay", json: ["cents": 320]).header("Authorization", "Bearer abc"))
    print(response.request.curlCommand())
    XCTAssertTrue(Printed.take().joined().contains("curl"))
  }

  func test_getAURLOrARequestWithoutSendingIt() async throws {
    let api = Network(
      Backend(baseURL: URL(string: "http://api.example"), headers: ["Authorization": "Bearer abc"]))

    let page = try api.url(of: .get("/authorize", query: ["client_id": "app"]))
    let prepared = try await api.preparedRequest(for: .get("/videos/7"))
    print(page, prepared.headers["Authorization"] ?? "no token")
    try assertPrinted(asIn: "Cookbook", 14)
  }

  func test_logEveryAttempt() async throws {
    let api = network { _ in .json("{}") }

    let logged = api.with { $0.interceptors.append(NetworkLogger(level: .basic) { print($0.contains("/news")) }) }
    try await logged.fetch(.get("/news"))
    try assertPrinted(asIn: "Cookbook", 15)
  }

  func test_reactToEveryErrorOnce() async throws {
    let api = network { _ in .json("{}", status: 503) }

    let watched = api.with { $0.onError = { error in print("metric: \(error.kind)") } }
    _ = try? await watched.fetch(.get("/down"))
    try assertPrinted(asIn: "Cookbook", 16)
  }

  func test_showAnErrorToTheUser() async throws {
    let api = network { _ in .json(#"{"message":"Not enough money"}"#, status: 422) }

    do {
      try await api.fetch(.post("/transfers", json: ["cents": 320]))
    } catch {
      if error.kind != .cancelled { print(error.message) }
    }
    try assertPrinted(asIn: "Cookbook", 17)
  }

  func test_useAnotherDecoderForOneBackend() async throws {
    let url = url
    let stub = StubTransport { _ in .json("7") }

    let dates = Network(
      Backend(
        baseURL: url, coding: .init(decoder: JSONModelDecoder { $0.dateDecodingStrategy = .secondsSince1970 }),
        transport: stub))
    print(try await dates.fetch(.get("/epoch"), as: Date.self).timeIntervalSince1970)
    try assertPrinted(asIn: "Cookbook", 18)
  }

  #if os(Linux)
    func test_callALocalServiceOverAUnixDomainSocket() async throws {
      let docker = Network(
        Backend(
          baseURL: URL(string: "http://docker"),
          transport: try CurlTransport(.init(addresses: ["docker": .unixSocket(path: "/var/run/docker.sock")]))))
      _ = docker
    }
  #endif

  func test_waitForTheNetworkBeforeACall() async throws {
    let api = echo

    let patient = api.with { $0.interceptors.append(ReachabilityInterceptor(SystemReachability())) }
    _ = patient
  }
}

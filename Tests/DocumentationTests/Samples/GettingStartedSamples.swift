import Foundation
import NetLayerTesting
import Streams
import StreamsTesting
import XCTest

nonisolated struct User: Decodable, Sendable {
  var name: String
  var publicRepos: Int
}

nonisolated struct Repo: Decodable, Sendable {
  var fullName: String
}

nonisolated struct NewRepo: Encodable, Sendable {
  var name: String
}

nonisolated struct Refusal: Decodable, Sendable {
  var errors: [String]
}

final class GettingStartedSamples: XCTestCase {
  private let githubURL = URL(string: "https://api.github.example")

  private func stub(refusing: Bool = false) -> StubTransport {
    StubTransport([
      .init(
        .post, "/user/repos",
        .sequence([
          .json(#"{"full_name":"octocat/hello"}"#, status: 201),
          .json(#"{"message":"Validation failed","errors":["name is taken"]}"#, status: 422),
        ])),
      .init(.delete, "/repos/octocat/old", .response(status: 204)),
      .init({ $0.url.query() == "page=2" }, .json(#"[{"full_name":"octocat/site"}]"#)),
      .init(
        .get, "/user/repos",
        .response(
          headers: ["Link": "</user/repos?page=2>; rel=next"],
          body: Data(#"[{"full_name":"octocat/hello"},{"full_name":"octocat/notes"}]"#.utf8))),
      .init(.get, "/users/octocat", .json(#"{"name":"Octocat","public_repos":8}"#)),
    ])
  }

  func test_gettingStarted() async throws {
    let (githubURL, stub) = (githubURL, stub())
    // As on the page, except for the transport.
    let github = Network(Backend(baseURL: githubURL, coding: .snakeCase))
      .with { $0.transport = stub }

    let user: User = try await github.fetch(.get("/users/octocat"))
    let repo = try await github.fetch(.post("/user/repos", json: NewRepo(name: "hello")), as: Repo.self)
    try await github.fetch(.delete("/repos/octocat/old"))
    print("\(user.name) has \(user.publicRepos) repositories and \(repo.fullName)")
    try assertPrinted(asIn: "GettingStarted", 1)

    do {
      try await github.fetch(.post("/user/repos", json: NewRepo(name: "hello")))
    } catch {
      guard error.status == 422 else { throw error }
      let refusal = try error.body(as: Refusal.self)
      print("\(error.message): \(refusal.errors.joined(separator: ", "))")
    }
    try assertPrinted(asIn: "GettingStarted", 2)

    for try await page in github.pages(.get("/user/repos"), of: Repo.self).values {
      print(page.items.map(\.fullName).joined(separator: ", "))
    }
    try assertPrinted(asIn: "GettingStarted", 3)
  }

  func test_aSearchFieldAsStreams() {
    let scheduler = TestScheduler(resolution: .milliseconds(100))
    let stub = StubTransport(on: scheduler) { .json(#"{"name":"\#($0.url.lastPathComponent)","public_repos":1}"#) }
    let github = Network(
      Backend(baseURL: githubURL, coding: .snakeCase, transport: stub, clock: scheduler, mapping: scheduler))
    let typed = scheduler.hot("-ab------c-").asObservable()
    let names =
      typed
      .debounce(.milliseconds(300), scheduler: scheduler)
      .flatMapLatest { name in github.request(.get("/users/\(name)"), as: User.self).asResult() }
      .compactMap { result in try? result.get().name }
    let observer = scheduler.createObserver(String.self)
    _ = names.subscribe(observer)
    scheduler.start()
    XCTAssertEqual(observer.elements, ["b", "c"])
    XCTAssertEqual(stub.requests.count, 2)
  }
}

import Foundation
import NetLayer
import NetLayerTesting
import Streams
import XCTest

struct Person: Decodable, Sendable {
  var name: String
}

struct Post: Decodable, Sendable {
  var title: String
}

/// The first program of the README.
enum FirstProgram {
  nonisolated struct Repo: Decodable, Sendable {
    var fullName: String
    var description: String?
  }

  static func run() async {
    let github = Network(Backend(baseURL: URL(string: "https://api.github.com"), coding: .snakeCase))

    await run(on: github)
  }

  static func run(on github: Network) async {
    do {
      let repo: Repo = try await github.fetch(.get("/repos/swiftlang/swift"))
      print("\(repo.fullName): \(repo.description ?? "")")
    } catch {
      print(error.localizedDescription)
    }
  }
}

final class ReadmeSamples: XCTestCase {
  func test_firstProgram() async throws {
    let stub = StubTransport([
      .init(
        .get, "/repos/swiftlang/swift",
        .json(#"{"full_name":"swiftlang/swift","description":"The Swift Programming Language"}"#))
    ])
    await FirstProgram.run(
      on: Network(Backend(baseURL: URL(string: "https://api.github.com"), coding: .snakeCase, transport: stub)))
    let printed = Printed.take().joined(separator: "\n")
    for name in ["README.md", "README.zh.md"] {
      let page = try String(
        contentsOf: URL(filePath: #filePath).appending(path: "../../../../\(name)").standardized, encoding: .utf8)
      XCTAssertTrue(page.contains("```text\n\(printed)\n```"), "\(name) does not show \(printed)")
    }
  }
}

// swift-format-ignore: one line per function, as in the README
nonisolated extension Network {
  func person(_ id: Int) -> Observable<Person> { json(.get("/people/\(id)")).data() }
  func posts(after cursor: String?) -> Observable<Page<Post>> { json(.get("/posts", query: ["cursor": cursor])).list() }
  func likePost(_ id: Int) -> Observable<Bool> { json(.post("/posts/\(id)/like")).bool() }
}

func readme(photosURL: URL, bag: DisposeBag) {
  let photos = Network(Backend(baseURL: photosURL, envelope: .standard))
  Observable.zip(photos.person(1), photos.posts(after: nil))
    .subscribe(
      onNext: { print("\($0.0.name) has \($0.1.items.count) posts") },
      onError: { print($0.localizedDescription) }
    )
    .disposed(by: bag)
}

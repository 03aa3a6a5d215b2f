import Foundation
import NetLayer

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

// These functions contain the code of README.md and of the guide "Getting started". A test compares them.

enum FirstProgram {
  nonisolated struct Repo: Decodable, Sendable {
    var fullName: String
    var description: String?
  }

  static func run() async {
    let github = Network(Backend(baseURL: URL(string: "https://api.github.com"), coding: .snakeCase))

    do {
      let repo: Repo = try await github.fetch(.get("/repos/swiftlang/swift"))
      print("\(repo.fullName): \(repo.description ?? "")")
    } catch {
      print(error.localizedDescription)
    }
  }
}

func gettingStarted(githubURL: URL, typed: Observable<String>, scheduler: any SchedulerType) async throws {
  let github = Network(Backend(baseURL: githubURL, coding: .snakeCase))

  let user: User = try await github.fetch(.get("/users/octocat"))
  let repo = try await github.fetch(.post("/user/repos", json: NewRepo(name: "hello")), as: Repo.self)
  try await github.fetch(.delete("/repos/octocat/old"))
  print("\(user.name) has \(user.publicRepos) repositories and \(repo.fullName)")

  do {
    try await github.fetch(.post("/user/repos", json: NewRepo(name: "hello")))
  } catch {
    guard error.status == 422 else { throw error }
    let refusal = try error.body(as: Refusal.self)
    print("\(error.message): \(refusal.errors.joined(separator: ", "))")
  }

  for try await page in github.pages(.get("/user/repos"), of: Repo.self).values {
    print(page.items.map(\.fullName).joined(separator: ", "))
  }

  let names =
    typed
    .debounce(.milliseconds(300), scheduler: scheduler)
    .flatMapLatest { name in github.request(.get("/users/\(name)"), as: User.self).asResult() }
    .compactMap { result in try? result.get().name }
  for try await name in names.values { print(name) }
}

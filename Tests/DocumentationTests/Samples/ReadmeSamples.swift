import Foundation
import NetLayer
import Streams

struct Person: Decodable, Sendable {
  var name: String
}

struct Post: Decodable, Sendable {
  var title: String
}

func plainReadme(githubURL: URL, show: ([Repo]) -> Void) async throws {
  let github = Network(Backend(baseURL: githubURL, coding: .snakeCase))

  let user: User = try await github.fetch(.get("/users/octocat"))
  let repo = try await github.fetch(.post("/user/repos", json: NewRepo(name: "hello")), as: Repo.self)
  for try await page in github.pages(.get("/user/repos"), of: Repo.self).values { show(page.items) }
  print(user, repo)
}

// swift-format-ignore: one line per function, as in the README
extension Network {
  func person(_ id: Int) -> Observable<Person> { json(.get("/user/detail.do", query: ["userid": id])).data() }
  func posts(after cursor: String?) -> Observable<Page<Post>> { json(.get("/feed", query: ["cursor": cursor])).list() }
  func likePhoto(_ id: Int) -> Observable<Bool> { json(.post("/like", parameters: ["id": id])).bool() }
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

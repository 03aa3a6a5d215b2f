import Foundation
import NetLayer

nonisolated struct Person: Decodable, Sendable {
  var name: String
}

nonisolated struct Post: Decodable, Sendable {
  var title: String
}

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

/// Reads a body in chunks on the main actor, and returns its size.
func size(of photo: Int, on photos: Network) async throws -> Int {
  var size = 0
  try await photos.withStream(.get("/photos/\(photo)")) { streamed in
    for try await chunk in streamed.chunks { size += chunk.count }
  }
  return size
}

enum PhotoAPI: Endpoint {
  case newest(page: Int)
  case delete(Int)

  var path: String {
    switch self {
    case .newest: "/photos"
    case .delete(let id): "/photos/\(id)"
    }
  }

  var method: HTTPMethod {
    switch self {
    case .newest: .get
    case .delete: .delete
    }
  }
}

struct RequestID: Interceptor {
  func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> {
    var request = request
    request.headers["X-Request-ID"] = "r-\(request.url.lastPathComponent)"
    return next(request)
  }
}

import Foundation
import NetLayer
import Streams

struct Movie: Decodable, Sendable {
  var title: String
}

extension Network {
  func movie(_ id: Int) -> Observable<Movie> {
    json(.get("/movie", query: ["id": id])).data()
  }
  func newest(cursor: String?) -> Observable<Page<Movie>> {
    json(.get("/movies/newest", query: ["cursor": cursor])).list()
  }
}

func overviewOfPlainCalls(cinema: Network, bag: DisposeBag) async throws {
  let movie: Movie = try await cinema.fetch(.get("/movies/7"))
  cinema.request(.get("/movies/7"), as: Movie.self)
    .subscribe(onSuccess: { print($0.title) }, onError: { print($0.localizedDescription) })
    .disposed(by: bag)
  print(movie)
}

func overviewOfNetLayer(moviesURL: URL, bag: DisposeBag) {
  let envelope = Envelope(code: "status", success: 0, message: "msg", data: "result")
  let movies = Network(Backend(baseURL: moviesURL, envelope: envelope))
  movies.movie(7)
    .subscribe(
      onNext: { print($0.title) },
      onError: { print($0.localizedDescription) }
    )
    .disposed(by: bag)
}

func overviewOfEncoding(photo: URL) -> HTTPTask {
  var form = MultipartForm(["album": 7])
  form.append(.file(photo, name: "photo"))
  let task = HTTPTask.query(["resize": true], .multipart(form))
  return task
}

func literals() -> Parameters {
  let parameters: Parameters = [
    "mixed": [1, "x", true, nil] as JSON,
    "user": ["name": "Ada", "age": 36] as Parameters,
  ]
  return parameters
}

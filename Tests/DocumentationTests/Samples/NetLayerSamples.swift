import Foundation
import NetLayer
import Streams

struct Movie: Decodable, Sendable {
  var title: String
}

extension Network {
  func movie(_ id: Int) -> Observable<Movie> {
    json(.get, "/movie", parameters: ["id": id]).data()
  }
  func newest(cursor: String?) -> Observable<Page<Movie>> {
    json(.get, "/movies/newest", parameters: ["cursor": cursor]).list()
  }
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

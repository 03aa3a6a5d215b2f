import Foundation
import NetLayer
import Streams

struct Movie: Decodable, Sendable {
  var title: String
}

func overviewOfPlainCalls(cinema: Network, bag: DisposeBag) async throws {
  let movie: Movie = try await cinema.fetch(.get("/movies/7"))
  cinema.request(.get("/movies/7"), as: Movie.self)
    .subscribe(onSuccess: { print($0.title) }, onError: { print($0.localizedDescription) })
    .disposed(by: bag)
  print(movie)
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

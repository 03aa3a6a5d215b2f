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

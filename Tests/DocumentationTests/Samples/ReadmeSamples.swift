import Foundation
import NetLayer
import Streams

struct User: Decodable, Sendable {
  var name: String
}

struct Post: Decodable, Sendable {
  var title: String
}

extension Network {
  func userDetail(userid: Int) -> Observable<User> {
    json(.get, "/user/detail.do", parameters: ["userid": userid]).data()
  }
  func feed(cursor: String?) -> Observable<Page<Post>> {
    json(.get, "/feed", parameters: ["cursor": cursor]).list()
  }
  func like(_ id: Int) -> Observable<Bool> {
    json(.post, "/like", parameters: ["id": id]).bool()
  }
}

func readme(photosURL: URL, bag: DisposeBag) {
  let photos = Network(Backend(baseURL: photosURL))
  Observable.zip(photos.userDetail(userid: 1), photos.feed(cursor: nil))
    .subscribe(
      onNext: { print("\($0.0.name) has \($0.1.items.count) posts") },
      onError: { print($0.localizedDescription) }
    )
    .disposed(by: bag)
}

import HTTPTransport
import NetLayer
import Streams
import TestSupport
import XCTest

private struct User: Decodable, Equatable {
  var userid: Int
  var name: String
}

private struct Post: Decodable, Equatable {
  var id: Int
}

// One short function per endpoint, as in the article.
extension Network {
  fileprivate func userDetail(userid: Int) -> Observable<User> {
    json(.get, "/user/detail.do", parameters: ["userid": userid]).data()
  }

  fileprivate func feed(cursor: String?) -> Observable<Page<Post>> {
    json(.get, "/feed", parameters: ["cursor": cursor]).list()
  }

  fileprivate func like(_ id: Int) -> Observable<Bool> {
    json(.post, "/like", parameters: ["id": id]).bool()
  }
}

final class Article0Tests: XCTestCase {
  private let bag = DisposeBag()

  override func setUpWithError() throws { try SharedDefault.install() }

  func test_row_0_27_userDetail_isOneFunctionAndOneSubscription() throws {
    let refreshed = expectation(description: "refreshUI")
    Network.default.userDetail(userid: 7)
      .subscribe(
        onNext: { user in
          XCTAssertEqual(user, User(userid: 7, name: "李"))
          refreshed.fulfill()
        },
        onError: { error in XCTFail(error.localizedDescription) }
      )
      .disposed(by: bag)
    wait(for: [refreshed], timeout: 60)
    XCTAssertTrue(
      try SharedDefault.install().requests.contains { $0.target == "/user/detail.do?token=secret&userid=7" })
  }

  func test_row_0_22_list_hasItsCursor() throws {
    let pages = record(Network.default.feed(cursor: nil)).elements
    XCTAssertEqual(pages, [Page(items: [Post(id: 1), Post(id: 2)], cursor: "next")])
    XCTAssertTrue(try SharedDefault.install().requests.contains { $0.target == "/feed?token=secret" })
  }

  func test_row_0_23_bool_isTheValueOfThePayload() {
    XCTAssertEqual(record(Network.default.like(7)).elements, [false])
  }

  func test_row_0_25_error_showsTheServersMessage() throws {
    let error = try failure(of: Network.default.json(.get, "/refused").bool())
    XCTAssertEqual(error.localizedDescription, "请先登录")
    #if HAS_URLSESSION
      XCTAssertEqual((error as NSError).domain, "NetLayer.NetworkError")
      XCTAssertEqual((error as NSError).code, 40301)
    #endif
  }

  func test_row_0_20_common_turnsTextIntoJSONOrAnError() throws {
    let text = Network.default.string(.get, "/user/detail.do")
    XCTAssertEqual(record(text.common().data(User.self)).elements, [User(userid: 7, name: "李")])
    XCTAssertEqual(try failure(of: Observable.just(#"{"code":1,"message":"no"}"#).common()).message, "no")
    XCTAssertEqual(try failure(of: Observable.just("<html>").common()).kind, .parse)
  }

  func test_row_0_3_callbacks_runOncePerAcceptedModel() {
    let users = Counter()
    let posts = Counter()
    _ = record(Network.default.json(.get, "/user/detail.do").data(User.self) { _ in users.next() })
    _ = record(Network.default.json(.get, "/feed").list(Post.self) { _ in posts.next() })
    _ = record(Network.default.json(.get, "/feed").list(Int.self) { _ in posts.next() })
    XCTAssertEqual(users.value, 1)
    XCTAssertEqual(posts.value, 2)
  }
}

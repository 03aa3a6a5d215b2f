import NetLayer
import PortableFoundation
import Streams

// A plain API: a body is a model, with names in snake_case.
struct Account: Decodable, Sendable {
  var name: String
  var publicRepos: Int
}

struct NewRepo: Encodable, Sendable {
  var name: String
  var isPrivate = true
}

struct Repo: Decodable, Sendable {
  var fullName: String
  var isPrivate: Bool
}

struct Refusal: Decodable, Sendable {
  var freeNames: [String]
}

struct User: Decodable, Sendable {
  var userid: Int
  var name: String
  var followers: Int
}

struct Post: Decodable, Sendable {
  var id: Int
  var title: String
  var images: Int

  private enum CodingKeys: String, CodingKey {
    case id = "post_id"
    case title
    case images = "image_count"
  }
}

struct Cart: Decodable, Sendable {
  var items: Int
  var total: Double
}

struct MovieList: Decodable, Sendable {
  struct Movie: Decodable, Sendable {
    var title: String
  }
  var results: [Movie]
}

// One short function per call, as in article 0. The layer unwraps the envelope.
extension Network {
  func userDetail(userid: Int) -> Observable<User> {
    json(.get, "/user/detail.do", parameters: ["userid": userid]).data()
  }

  func feed(cursor: String?) -> Observable<Page<Post>> {
    json(.get, "/feed", parameters: ["cursor": cursor]).list()
  }

  func posts(of user: User) -> Observable<Page<Post>> {
    json(.get, "/posts", parameters: ["userid": user.userid]).list()
  }

  func like(_ id: Int) -> Observable<Bool> { json(.post, "/like", parameters: ["id": id]).bool() }

  func account() -> Observable<User> { json(.get, "/account").data() }
}

/// The calls of the movie server, each described once, as in articles 2 and 4.
enum MovieAPI: Endpoint {
  case newMovies(page: Int)

  var path: String { "now_playing" }

  var task: HTTPTask {
    switch self {
    case .newMovies(let page): .parameters(["page": page, "api_key": "demo"])
    }
  }
}

enum ShopAPI: Endpoint {
  case cart
  case pay

  var path: String {
    switch self {
    case .cart: "cart"
    case .pay: "pay"
    }
  }

  var method: HTTPMethod {
    switch self {
    case .cart: .get
    case .pay: .post
    }
  }
}

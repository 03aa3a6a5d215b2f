import Foundation
import NetLayerTesting
import Streams

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

extension Network {
  func everyPost() -> Observable<Page<Post>> {
    .pages(startingAt: nil) { self.feed(cursor: $0) }
  }
}

func article0(shopURL: URL, userId: Int, bag: DisposeBag) throws {
  try Network.setDefault(
    Network(
      Backend(
        baseURL: shopURL,
        commonParameters: { ["app_version": "2.1", "device_id": "…"] },
        envelope: Envelope(code: "code", success: 200, message: "message", data: "data", cursor: "cursor"),
        delivery: MainScheduler.instance)))

  Network.default.userDetail(userid: userId)
    .subscribe(
      onNext: { user in print(user.name) },
      onError: { error in print(error.localizedDescription) }
    )
    .disposed(by: bag)
}

enum Article0Signature {
  struct AntiCrawler: Signer {
    let secret: String
    func sign(_ content: ContentToSign) -> RequestSignature {
      RequestSignature(parameters: ["sign": Hash.hex(Hash.md5(Data((content.text + secret).utf8)))])
    }
  }
}

enum Article1 {
  struct UserInfo: Decodable, Sendable {
    var age: Int?
    var name: String?
  }

  struct BaseResp<Payload: Decodable & Sendable>: BaseResponse {
    var code: Int
    var msg: String?
    var data: Payload?
    func makeCustomError() -> (any Error)? {
      code == 0 ? nil : NetworkError(kind: .rejected, code: code, message: msg, reason: "refused with \(code)")
    }
  }

  enum TestAPI: Endpoint {
    case m, n
    case user(Int)
    var path: String {
      switch self {
      case .m: "/m"
      case .n: "/n"
      case .user(let id): "/user/\(id)"
      }
    }
  }

  static func run(baseURL: URL, otherURL: URL, bag: DisposeBag) {
    let base = Network(
      Backend(
        baseURL: baseURL, timeouts: .init(connect: .seconds(15), idle: .seconds(15), attempt: .seconds(60)),
        interceptors: [NetworkLogger()],
        onError: { print("everywhere:", $0) }))
    let other = Network(Backend(baseURL: otherURL))

    base.request(TestAPI.n, as: BaseResp<UserInfo>.self, progress: { print($0.fractionReceived ?? 0) })
      .observeOn(MainScheduler.instance)
      .subscribe(onSuccess: { print($0) }, onError: { print($0) })
      .disposed(by: bag)

    base.zip([TestAPI.m, .n], as: BaseResp<UserInfo>.self)
      .subscribe(onSuccess: { print($0.compactMap { $0.data?.name }) })
      .disposed(by: bag)

    RequestChain(on: base) { TestAPI.m.as(String.self) }
      .then(StepOptions(onSuccess: { print($0.data?.age ?? 0) })) { _ in TestAPI.n.as(BaseResp<UserInfo>.self) }
      .then(StepOptions(on: other)) { user in user.data?.age.map { TestAPI.user($0).as(JSON.self) } }
      .run()
      .subscribe(
        onNext: { text, user, json in print(text, user, json) },
        onError: { print(($0 as? NetworkError)?.index ?? 0, $0) }
      )
      .disposed(by: bag)

    let stubbed = base.with { $0.transport = StubTransport([.init(TestAPI.m, .json(#"{"code":0}"#))]) }
    Observable.zip(
      stubbed.request(TestAPI.m, as: BaseResp<UserInfo>.self), other.request(TestAPI.n, as: String.self)
    )
    .subscribe(onNext: { user, text in print(user, text) })
    .disposed(by: bag)
  }
}

enum Article2 {
  struct Movie: Decodable, Sendable {
    var id: Int
    var title: String
  }

  struct MovieAPIResponse: Decodable, Sendable {
    var page: Int
    var results: [Movie]
  }

  enum MovieAPI: Endpoint {
    case newMovies(page: Int)
    case video(id: Int)
    var path: String {
      switch self {
      case .newMovies: "now_playing"
      case .video(let id): "\(id)/videos"
      }
    }
    var task: HTTPTask {
      switch self {
      case .newMovies(let page): .parameters(["page": page])
      case .video: .none
      }
    }
  }

  struct NetworkManager {
    let router: Router<MovieAPI>
    init(qa: URL, production: URL, key: String) {
      router = Router(
        Network(
          Backend(
            environments: [.qa: qa, .production: production], environment: .qa,
            commonParameters: { ["api_key": key] })))
    }
    func getNewMovies(page: Int, completion: @escaping @Sendable ([Movie]?, _ error: String?) -> Void) {
      router.request(.newMovies(page: page), as: MovieAPIResponse.self) { result in
        switch result {
        case .success(let response): completion(response.results, nil)
        case .failure(let error): completion(nil, error.message)
        }
      }
    }
  }
}

enum Article3 {
  enum GitHub: Endpoint {
    case userProfile(String)
    var path: String {
      switch self {
      case .userProfile(let name): "/users/\(name.urlEscaped)"
      }
    }
  }

  static func run(github: Network, names: Observable<String>, bag: DisposeBag) {
    GitHub.userProfile("InsectQY").request(on: github)
      .map(User.self, at: "data.user")
      .subscribe(onSuccess: { print($0.name) }, onError: { print($0) })
      .disposed(by: bag)

    names.map { GitHub.userProfile($0) }.request(on: github)
      .map([User].self, at: "data.items", failsOnEmptyData: false)
      .subscribe(onNext: { print($0.count) })
      .disposed(by: bag)

    GitHub.userProfile("InsectQY").cache.request(on: github)
      .map(User.self, at: "data.user")
      .subscribe(onNext: { print($0.name) }, onError: { print($0) })
      .disposed(by: bag)

    GitHub.userProfile("InsectQY").onCache(User.self, at: "data.user") { local in print("stored: \(local.name)") }
      .request(on: github)
      .subscribe(onSuccess: { print($0.name) }, onError: { print($0) })
      .disposed(by: bag)
  }

  static func network(apiURL: URL) -> Network {
    let cache = ResponseCache(storingIn: ResponseCache.directory(named: "github"))
    let github = Network(Backend(baseURL: apiURL, interceptors: [CacheInterceptor(cache)]))
    return github
  }
}

enum Article4 {
  enum MovieRequest: Endpoint {
    case newMovies(page: Int)
    var path: String { "movies" }
    var task: HTTPTask {
      switch self {
      case .newMovies(let page): .parameters(["page": page, "adult": false])
      }
    }
  }

  struct MovieList: Decodable, Sendable {
    var totalPages: Int
    var publishedAt: Date
  }

  static func run(baseURL: URL, bag: DisposeBag) {
    let service = Service<MovieRequest>(
      Network(
        Backend(baseURL: baseURL, coding: .snakeCaseISO8601, delivery: MainScheduler.instance)))

    service
      .request(.newMovies(page: 1), as: MovieList.self)
      .subscribe(
        onSuccess: { list in print(list.totalPages) },
        onError: { error in print(error.localizedDescription) }
      )
      .disposed(by: bag)
  }
}

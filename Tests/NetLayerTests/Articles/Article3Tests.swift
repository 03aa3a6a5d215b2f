import HTTPTransport
import NetLayer
import NetLayerTesting
import Streams
import StreamsTesting
import TestSupport
import XCTest

private enum GitHub: Endpoint {
  case userProfile(String)
  case repos(String)

  var path: String {
    switch self {
    case .userProfile(let name): "/users/\(name.urlEscaped)"
    case .repos(let name): "/users/\(name.urlEscaped)/repos"
    }
  }
}

private struct User: Decodable, Equatable, Sendable {
  var login: String
}

final class Article3Tests: XCTestCase {
  private let stub = StubTransport { request in
    request.url.path.hasSuffix("/repos")
      ? .json(#"{"data":{"total":2,"items":[{"login":"a"},{"login":"b"}]}}"#)
      : .json(#"{"data":{"user":{"login":"\#(request.url.lastPathComponent)"}}}"#)
  }
  private var github: Network { Network(Backend(baseURL: URL(string: "https://api.github.com"), transport: stub)) }

  func test_row_3_3_finalExampleOfTheArticle_worksWithoutCache() {
    let profile = GitHub.userProfile("InsectQY").request(on: github).map(User.self, at: "data.user")
    XCTAssertEqual(record(profile).elements, [User(login: "InsectQY")])
  }

  func test_row_3_1_loadingErrorAndContent_comeFromOneCall() {
    let scheduler = TestScheduler()
    let slow = StubTransport(
      [.init(GitHub.userProfile("a"), .json(#"{"login":"a"}"#, after: .seconds(5)))], on: scheduler)
    let network = Network(
      Backend(baseURL: URL(string: "http://h"), transport: slow, clock: scheduler, mapping: scheduler))
    let loading = scheduler.createObserver(Bool.self)
    let indicator = network.requestsInFlight.map { $0 > 0 }.subscribe(loading)
    let subscription = network.request(GitHub.userProfile("a"), as: User.self).subscribe()
    scheduler.start()
    indicator.dispose()
    subscription.dispose()
    XCTAssertEqual(loading.events.compactMap(\.value.element), [false, true, false])
    XCTAssertEqual(loading.events.map(\.time), [0, 0, 5])
  }

  func test_row_3_2_anyEndpoint_canBeCalledOnAnyNetwork() {
    struct Weather: Endpoint {
      var path: String { "/users/weather" }
    }
    let other = Network(Backend(baseURL: URL(string: "http://h"), transport: stub))
    let everything: [any Endpoint<Response>] = [GitHub.userProfile("x"), Weather()]
    for endpoint in everything {
      for network in [github, other] { XCTAssertEqual(record(endpoint.request(on: network)).elements.count, 1) }
    }
  }

  func test_row_3_5_objectsArraysAndScalarsAtAKeyPath_areOneCall() {
    let reply = GitHub.repos("x").request(on: github)
    XCTAssertEqual(record(reply.map([User].self, at: "data.items")).elements, [[User(login: "a"), User(login: "b")]])
    XCTAssertEqual(record(reply.map(User.self, at: "data.items[1]")).elements, [User(login: "b")])
    XCTAssertEqual(record(reply.map(Int.self, at: "data.total")).elements, [2])
  }

  func test_row_3_6_parser_isReplacedInOnePlace() {
    struct Upper: ModelDecoder {
      func decode<Model: NonisolatedDecodable>(_ type: Model.Type, from json: JSON) throws -> Model {
        try JSONModelDecoder.default.decode(type, from: try JSON(parsing: json.description.uppercased()))
      }
    }
    let loud = github.with { $0.coding.decoder = Upper() }
    XCTAssertEqual(
      record(GitHub.userProfile("a").request(on: loud).map(String.self, at: "data.user.login")).elements, ["A"])
  }

  func test_row_3_12_eachPartOfTheChain_isOptional() {
    XCTAssertEqual(record(github.request(GitHub.userProfile("a"))).elements.first?.status, 200)
    XCTAssertEqual(record(github.request(GitHub.userProfile("a"), as: JSON.self)).elements.count, 1)
    XCTAssertEqual(record(github.request(GitHub.userProfile("a")).map(User.self, at: "data.user")).elements.count, 1)
  }

  func test_row_3_13_releasingTheOwner_cancelsItsRequests() {
    final class Controller: Sendable {
      private let bag = DisposeBag()
      init(_ network: Network) { network.request(GitHub.userProfile("a")).subscribe().disposed(by: bag) }
    }
    let transport = StubTransport { _ in .never }
    var controller: Controller? = Controller(
      Network(Backend(baseURL: URL(string: "http://h"), transport: transport)))
    XCTAssertNotNil(controller)
    controller = nil
    XCTAssertEqual(transport.cancelled.count, 1)
  }

  func test_row_3_17_streamOfEndpoints_isRequestedAndMapped() {
    let users = Observable.of(GitHub.userProfile("a"), .userProfile("b")).request(on: github)
      .map(User.self, at: "data.user").toArray()
    XCTAssertEqual(Set(record(users).elements.first?.map(\.login) ?? []), ["a", "b"])
  }
}

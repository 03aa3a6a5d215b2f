import HTTPTransport
import LoopbackServer
import NetLayer
import NetLayerTesting
import Streams
import TestSupport
import XCTest

private enum MovieRequest: Endpoint {
  case newMovies(page: Int64)
  case rate(id: Int, value: Double)

  var path: String {
    switch self {
    case .newMovies: "movies"
    case .rate(let id, _): "movies/\(id)/rating"
    }
  }

  var method: HTTPMethod {
    switch self {
    case .newMovies: .get
    case .rate: .post
    }
  }

  var task: HTTPTask {
    switch self {
    case .newMovies(let page): .parameters(["page": page, "lang": "zh", "adult": false])
    case .rate(_, let value): .parameters(["value": value], encoding: .json)
    }
  }

  var headers: HTTPHeaders { ["X-Client": "test"] }
}

private struct MovieList: Decodable, Equatable, Sendable {
  var totalPages: Int
  var publishedAt: Date
}

final class Article4Tests: XCTestCase {
  private let bag = DisposeBag()

  func test_row_4_5_service_decodesTheGenericType() throws {
    let server = try TestServer { _ in .json(#"{"total_pages":3,"published_at":"2019-12-28T00:00:00Z"}"#) }
    let service = Service<MovieRequest>(
      Network(
        Backend(
          baseURL: server.url("/v3"),
          coding: Backend.Coding(
            decoder: JSONModelDecoder { decoder in
              decoder.keyDecodingStrategy = .convertFromSnakeCase
              decoder.dateDecodingStrategy = .iso8601
            }),
          delivery: MainScheduler.instance)))
    let received = expectation(description: "value")
    service
      .request(.newMovies(page: 1), as: MovieList.self)
      .subscribe(
        onSuccess: { list in
          XCTAssertEqual(list.totalPages, 3)
          XCTAssertEqual(list.publishedAt, Date(timeIntervalSince1970: 1_577_491_200))
          XCTAssertTrue(MainThread.isCurrent)
          received.fulfill()
        },
        onError: { error in XCTFail("\(error)") }
      )
      .disposed(by: bag)
    wait(for: [received], timeout: 60)
    let request = try XCTUnwrap(server.requests.first)
    XCTAssertEqual(request.target, "/v3/movies?adult=0&lang=zh&page=1")
    XCTAssertEqual(request.header("X-Client"), "test")
    XCTAssertEqual(request.header("Accept"), "application/json")
  }

  func test_row_4_3_parametersOfAPost_areSentInTheBody() throws {
    let transport = StubTransport { _ in .json("{}") }
    let service = Service<MovieRequest>(Network(Backend(baseURL: URL(string: "https://h/v3/"), transport: transport)))
    _ = record(service.request(.rate(id: 7, value: 8.0)))
    let request = try XCTUnwrap(transport.requests.first)
    XCTAssertEqual(request.url.absoluteString, "https://h/v3/movies/7/rating")
    XCTAssertEqual(request.text, #"{"value":8.0}"#)
  }

  func test_row_4_4_service_takesOneEndpointType_andCanBeStubbed() {
    let stub = StubTransport([.init(MovieRequest.newMovies(page: 1), .json("[1]"))])
    let service = Service<MovieRequest>(Network(Backend(baseURL: URL(string: "http://h"), transport: stub)))
    XCTAssertEqual(record(service.request(.newMovies(page: 1), as: [Int].self)).elements, [[1]])
    XCTAssertEqual(record(service.request(.newMovies(page: 1))).elements.first?.status, 200)
  }

  func test_row_4_7_valueAndCompletion_arriveOnMain_andTheBagOwnsTheCall() throws {
    let network = Network(
      Backend(
        baseURL: URL(string: "http://h"), transport: StubTransport { _ in .json("[1]") },
        delivery: MainScheduler.instance)
    )
    let recorded = record(Service<MovieRequest>(network).request(.newMovies(page: 1), as: [Int].self))
    XCTAssertEqual(recorded.onMain, [true, true])
    let done = expectation(description: "done")
    let plain = network.with { $0.delivery = nil }
    plain.request(MovieRequest.newMovies(page: 1), as: [Int].self).asObservable()
      .subscribeOnMain(onNext: { _ in
        MainActor.assertIsolated()
        done.fulfill()
      })
      .disposed(by: bag)
    wait(for: [done], timeout: 60)
  }

  func test_row_3_3_endpoint_isCalledOnTheDefaultNetwork() throws {
    struct Detail: Endpoint {
      var path: String { "/user/detail.do" }
    }
    struct User: Decodable {
      var name: String
    }
    try SharedDefault.install()
    XCTAssertEqual(record(Detail().request().map(User.self, at: "data")).elements.map(\.name), ["李"])
    XCTAssertEqual(record(Detail().request().map(Int.self, at: "data.userid")).elements, [7])
    XCTAssertEqual(try failure(of: Detail().request().map(Int.self, at: "data.x")).codingPath, ["data", "x"])
  }
}

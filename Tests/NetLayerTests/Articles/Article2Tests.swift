import HTTPTransport
import LoopbackServer
import NetLayer
import NetLayerTesting
import Streams
import TestSupport
import XCTest

private enum MovieAPI: Endpoint {
  case recommended(id: Int)
  case popular(page: Int)
  case newMovies(page: Int)
  case video(id: Int)

  static let apiKey = "key"

  var path: String {
    switch self {
    case .recommended(let id): "\(id)/recommendations"
    case .popular: "popular"
    case .newMovies: "now_playing"
    case .video(let id): "\(id)/videos"
    }
  }

  var task: HTTPTask {
    switch self {
    case .newMovies(let page), .popular(let page): .parameters(["page": page, "api_key": MovieAPI.apiKey])
    default: .parameters(["api_key": MovieAPI.apiKey])
    }
  }
}

private struct MovieAPIResponse: Decodable {
  let page: Int
  let numberOfResults: Int
  let numberOfPages: Int
  let movies: [Movie]

  private enum CodingKeys: String, CodingKey {
    case page
    case numberOfResults = "total_results"
    case numberOfPages = "total_pages"
    case movies = "results"
  }
}

private struct Movie: Decodable, Equatable {
  let id: Int
  let title: String
  let rating: Double

  private enum CodingKeys: String, CodingKey {
    case id
    case title
    case rating = "vote_average"
  }
}

private struct NetworkManager {
  let router: Router<MovieAPI>

  /// The environments of the article are hosts. Here they are paths of one server.
  init(environment: Backend.Environment, server: TestServer) {
    let environments: [Backend.Environment: URL] = [
      .production: server.url("/api/3/movie/"),
      .qa: server.url("/qa/3/movie/"),
      .staging: server.url("/staging/3/movie/"),
    ]
    router = Router(Network(Backend(environments: environments, environment: environment)))
  }

  func getNewMovies(page: Int, completion: @escaping @Sendable (_ movies: [Movie]?, _ error: String?) -> Void) {
    router.request(.newMovies(page: page), as: MovieAPIResponse.self) { result in
      switch result {
      case .success(let response): completion(response.movies, nil)
      case .failure(let error): completion(nil, error.message)
      }
    }
  }
}

final class Article2Tests: XCTestCase {
  private let reply =
    #"{"page":1,"total_results":1,"total_pages":1,"results":[{"id":1,"title":"t","vote_average":7.5}]}"#

  func test_row_2_21_getNewMovies_passesModelsToACompletion() throws {
    for (environment, place) in [(Backend.Environment.qa, "qa"), (.staging, "staging"), (.production, "api")] {
      let server = try TestServer { [reply] _ in .json(reply) }
      let manager = NetworkManager(environment: environment, server: server)
      let completed = expectation(description: "completed")
      manager.getNewMovies(page: 1) { movies, error in
        XCTAssertNil(error)
        XCTAssertEqual(movies, [Movie(id: 1, title: "t", rating: 7.5)])
        completed.fulfill()
      }
      wait(for: [completed], timeout: 60)
      XCTAssertEqual(server.requests.map(\.target), ["/\(place)/3/movie/now_playing?api_key=key&page=1"])
    }
  }

  func test_row_2_16_errorStatus_becomesAMessage() throws {
    let server = try TestServer { _ in .status(401) }
    let manager = NetworkManager(environment: .qa, server: server)
    let completed = expectation(description: "completed")
    manager.getNewMovies(page: 1) { movies, error in
      XCTAssertNil(movies)
      XCTAssertEqual(error, NetworkError.Messages.localized.authentication)
      completed.fulfill()
    }
    wait(for: [completed], timeout: 60)
  }

  func test_row_2_18_missingNetwork_isNotAnAPIError() throws {
    let network = Network(
      Backend(baseURL: URL(string: "http://h"), transport: StubTransport { _ in .failure(.connection) }))
    XCTAssertEqual(try failure(of: network.request(MovieAPI.popular(page: 2))).kind, .connection)
  }

  func test_row_2_11_cancel_endsEachRequestOfTheRouterOnce() throws {
    let transport = StubTransport { _ in .never }
    let router = Router<MovieAPI>(Network(Backend(baseURL: URL(string: "http://h"), transport: transport)))
    let completed = expectation(description: "both completed")
    completed.expectedFulfillmentCount = 2
    completed.assertForOverFulfill = true
    for page in 1...2 {
      router.request(.popular(page: page)) { result in
        guard case .failure(let error) = result else { return XCTFail("answered") }
        XCTAssertEqual(error.kind, .cancelled)
        completed.fulfill()
      }
    }
    router.cancel()
    router.cancel()
    wait(for: [completed], timeout: 60)
    XCTAssertEqual(transport.cancelled.count, 2)
  }

  func test_row_2_11_oneRequest_canBeCancelledAlone() throws {
    let transport = StubTransport { [reply] in $0.url.path.hasSuffix("popular") ? .never : .json(reply) }
    let router = Router<MovieAPI>(Network(Backend(baseURL: URL(string: "http://h"), transport: transport)))
    let cancelled = expectation(description: "cancelled")
    let replied = expectation(description: "answered")
    let request = router.request(.popular(page: 1)) { result in
      if case .failure(let error) = result, error.kind == .cancelled { cancelled.fulfill() }
    }
    router.request(.video(id: 1)) { result in
      if case .success(let response) = result, response.status == 200 { replied.fulfill() }
    }
    request.dispose()
    wait(for: [cancelled, replied], timeout: 60)
  }
}

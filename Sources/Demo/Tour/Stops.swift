import LoopbackServer
import NetLayerRecording
import PortableFoundation
import Streams

/// The stops of the tour. Each stop is a stream of lines and starts when the previous stop has completed.
struct Stops: Sendable {
  private let forge: Network
  private let photos: Network
  private let movies: Service<MovieAPI>
  private let shop: Network
  private let nowhere: Network
  private let silent: TestServer
  private let interceptors: [any Interceptor]
  private let clock = ConcurrentDispatchQueueScheduler(qos: .userInitiated)

  /// - Parameter recorder: The recorder of the calls; `nil` without an inspector.
  init(server: TestServer, silent: TestServer, recorder: Recorder?) throws {
    interceptors = recorder.map { [$0] } ?? []
    forge = Network(
      Backend(baseURL: server.url("/api"), coding: .snakeCase, interceptors: interceptors))
    photos = Network(
      Backend(
        baseURL: server.url, commonParameters: { ["app_version": "1.0", "token": "demo"] }, envelope: .standard,
        interceptors: interceptors))
    movies = Service(
      Network(
        Backend(
          environments: [.production: server.url("/3/movie"), .staging: server.url("/staging/3/movie")],
          interceptors: interceptors)))
    shop = Network(
      Backend(
        baseURL: server.url("/shop"), envelope: Envelope(code: "status", success: 0, message: "msg", data: "result"),
        interceptors: interceptors))
    // The port is closed again, so connections are refused.
    let gone = try TestServer { _ in .status(204) }
    nowhere = Network(Backend(baseURL: gone.url, interceptors: interceptors))
    gone.stop()
    self.silent = silent
  }

  var all: [Observable<String>] {
    [
      stop("await", awaited), stop("post", posted), stop("typed error", typedError), stop("links", links),
      stop("model", model), stop("pages", pages), stop("bool", bool), stop("rejected call", rejectedCall),
      stop("network error", networkError), stop("zip", zipped), stop("merge", merged), stop("chain", chained),
      stop("endpoint", endpoint), stop("second backend", secondBackend),
      stop("live", LiveQueriesStop(network: forge).lines),
      stop("upload", upload), stop("outbox", OutboxStop(network: forge).lines), stop("cancel", cancelled),
      .just("done"),
    ]
  }

  /// Adds the name of the stop to the start of each line.
  private func stop(_ name: String, _ lines: Observable<String>) -> Observable<String> {
    lines.map { "\(name): \($0)" }
  }

  private var awaited: Observable<String> {
    Single.from { [forge] in
      let ada = try await forge.fetch(.get("/users/ada"), as: Account.self)
      return "\(ada.name) has \(ada.publicRepos) public repositories"
    }.asObservable()
  }

  private var posted: Observable<String> {
    Single.from { [forge] in
      let repo = try await forge.fetch(.post("/repos", json: NewRepo(name: "engine")), as: Repo.self)
      return "created \(repo.fullName), \(repo.isPrivate ? "private" : "public")"
    }.asObservable()
  }

  private var typedError: Observable<String> {
    Single.from { [forge] in
      do {
        try await forge.fetch(.post("/repos", json: NewRepo(name: "notes")))
        throw Unexpected()
      } catch let error as NetworkError {
        let refusal = try error.body(as: Refusal.self)
        return "\(error.code): \(error.message); \(refusal.freeNames.joined(separator: " and ")) are available"
      }
    }.asObservable()
  }

  private var links: Observable<String> {
    forge.pages(.get("/repos"), of: Repo.self).map { page in
      page.items.map(\.fullName).joined(separator: ", ") + (page.cursor == nil ? " | last page" : " | next by link")
    }
  }

  private var model: Observable<String> {
    photos.userDetail(userid: 1).map { "user \($0.userid) is \($0.name) with \($0.followers) followers" }
  }

  private var pages: Observable<String> {
    photos.pages(.get("/feed"), of: Post.self, by: .cursor()).map { page in
      let titles = page.items.map(\.title).joined(separator: ", ")
      return "\(titles) | " + (page.cursor.map { "next cursor \($0)" } ?? "last page")
    }
  }

  private var bool: Observable<String> { photos.like(7).map { "liked: \($0)" } }

  private var rejectedCall: Observable<String> { expectingError(photos.account()) }

  private var networkError: Observable<String> { expectingError(nowhere.userDetail(userid: 1)) }

  private var zipped: Observable<String> {
    Observable<String>.zip(photos.userDetail(userid: 1), photos.feed(cursor: nil)) { user, page in
      "\(user.name) and \(page.items.count) posts, combined"
    }
  }

  private var merged: Observable<String> {
    Observable<User>.merge((1...4).map { photos.userDetail(userid: $0) }).map { "user \($0.userid) arrived" }
  }

  private var chained: Observable<String> {
    photos.userDetail(userid: 2).flatMap { [photos] user in
      photos.posts(of: user).map { "\(user.name) posted \($0.items.map(\.title).joined(separator: ", "))" }
    }
  }

  private var endpoint: Observable<String> {
    movies.request(.newMovies(page: 1), as: MovieList.self).asObservable()
      .map { "now playing: " + $0.results.map(\.title).joined(separator: ", ") }
  }

  private var secondBackend: Observable<String> {
    let cart = shop.json(ShopAPI.cart).data(Cart.self).map { "\($0.items) items in the cart, \($0.total) in total" }
    return cart.concat(expectingError(shop.json(ShopAPI.pay).data(Cart.self)))
  }

  /// Uploads a file. The server ends the connection after 100,000 bytes, and the upload continues.
  private var upload: Observable<String> {
    Single.from { [forge] in
      let film = FileManager.default.temporaryDirectory.appending(path: "tour-\(UUID().uuidString).mp4")
      try Data(count: 300_000).write(to: film)
      defer { try? FileManager.default.removeItem(at: film) }
      let response = try await forge.upload(film, to: .post("/films"), by: .tus)
      let ranges = try await forge.fetch(.get("/films/1"), as: [String].self)
      return
        "\(response.status) after a lost connection; the server received the bytes \(ranges.joined(separator: " and "))"
    }.asObservable()
  }

  /// Cancels a request without a response after 200 ms, and waits until the server has noticed.
  private var cancelled: Observable<String> {
    let before = silent.requestCount
    let network = Network(Backend(baseURL: silent.url, interceptors: interceptors))
    let response = network.json(.get, "/").map { _ in "a response that was never sent" }
    // The server also counts the requests of earlier tours.
    let sawClose = Observable<Int>.interval(.milliseconds(10), scheduler: clock)
      .filter { [silent] _ in silent.requestCount > before && silent.openConnectionCount == 0 }
      .take(1)
      .timeout(.seconds(3), scheduler: clock)
      .map { _ in "the server saw its connection close" }
    return response.takeUntil(Observable<Int>.timer(.milliseconds(200), scheduler: clock))
      .concat(Observable.just("cancelled after 200 ms"))
      .concat(sawClose)
  }

  /// Emits the error of `source` as a line, and fails if `source` completes.
  private func expectingError<Element>(_ source: Observable<Element>) -> Observable<String> {
    source.map { _ in throw Unexpected() }.catchError { error in
      guard let error = error as? NetworkError else { throw error }
      return .just("\(error.kind) \(error.code): \(error.message)")
    }
  }

  private struct Unexpected: Error {}
}

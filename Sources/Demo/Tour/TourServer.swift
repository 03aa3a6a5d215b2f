import LoopbackServer
import PortableFoundation

/// The backends of the tour: a plain API and, like those of the articles, a photo feed with cursor paging, users,
/// movies, and a shop with different names in its envelope.
enum TourServer {
  /// Starts the server.
  ///
  /// - Throws: The error of `TestServer` if the system has no free port.
  static func start(
    adding more: (inout TestServer.Routes) -> Void = { _ in }
  ) throws -> TestServer {
    var routes = TestServer.Routes()
    more(&routes)
    plain(&routes)
    stories(&routes)
    notes(&routes)
    users(&routes)
    feed(&routes)
    movies(&routes)
    shop(&routes)
    let uploads = TourUploads()
    uploads.add(to: &routes)
    return try TestServer(
      cut: { uploads.cut($0) }, handler: { [routes] request in LocalHost.respond(to: request, routes) })
  }

  /// Adds a plain API: no envelope, snake_case, a list with links to its pages, and a list with cursors.
  private static func plain(_ routes: inout TestServer.Routes) {
    routes.on("GET", "/api/users/ada") { _ in .json(#"{"login":"ada","name":"Ada","public_repos":3}"#) }
    routes.on("POST", "/api/repos") { request in
      guard let match = request.text.firstMatch(of: /"name":"(\w+)"/) else {
        return .json(#"{"message":"a name is needed","free_names":[]}"#, status: 400)
      }
      if match.1 == "notes" {
        return .json(#"{"message":"this name is taken","free_names":["notes-2","notebook"]}"#, status: 422)
      }
      let isPrivate = request.text.contains(#""is_private":true"#)
      return .json(#"{"full_name":"ada/\#(match.1)","is_private":\#(isPrivate)}"#, status: 201)
    }
    let repos = ["notes", "looms", "cards"].map { #"{"full_name":"ada/\#($0)","is_private":false}"# }
    routes.on("GET", "/api/repos") { request in
      request.query("page") == "2"
        ? .json("[\(repos[2])]").header("Link", #"</api/repos>; rel="prev""#)
        : .json("[\(repos[0]),\(repos[1])]").header("Link", #"</api/repos?page=2>; rel="next""#)
    }
    routes.on("GET", "/api/events") { request in
      request.query("after") == "e2"
        ? .json(#"{"items":[{"id":"e3"}],"meta":{"next":null}}"#)
        : .json(#"{"items":[{"id":"e1"},{"id":"e2"}],"meta":{"next":"e2"}}"#)
    }
  }

  /// Adds stories with likes; the server rejects likes of the second one, and announces its own changes.
  private static func stories(_ routes: inout TestServer.Routes) {
    let likes = Likes()
    routes.on("GET", "/api/stories") { _ in likes.list }
    routes.on("POST", "/api/stories/1/like") { _ in
      likes.add(1)
      return .json("{}").delayed(by: 0.05)
    }
    routes.on("POST", "/api/stories/2/like") { _ in .json("{}", status: 422).delayed(by: 0.05) }
    routes.on("GET", "/api/changes") { _ in
      likes.add(10)
      return .stream([.init("event: stories\ndata: 1\n\n")], type: "text/event-stream")
    }
  }

  private final class Likes: Sendable {
    /// Guards the count, which the server's thread changes.
    private let count = Locked(3)

    func add(_ more: Int) { count.withLock { $0 += more } }

    var list: TestServer.Response {
      let first = count.withLock { $0 }
      return .json(
        #"[{"id":1,"title":"Harbour","likes":\#(first)},{"id":2,"title":"Fog","likes":5}]"#)
    }
  }

  /// Adds notes. The response to the first request for the first one is lost.
  private static func notes(_ routes: inout TestServer.Routes) {
    let requests = Requests()
    routes.on("POST", "/api/notes") { request in
      let count = requests.add(request.header("Idempotency-Key") ?? "")
      return count == 1 && request.text.contains("tea") ? .closeBeforeHead : .json(#"{"requests":\#(count)}"#)
    }
  }

  /// The number of requests with each key.
  private final class Requests: Sendable {
    /// Guards the counts, which the server's thread changes.
    private let counts = Locked<[String: Int]>([:])

    func add(_ key: String) -> Int {
      counts.withLock { counts in
        counts[key, default: 0] += 1
        return counts[key, default: 0]
      }
    }
  }

  private static let names = ["李明", "Ada", "王芳", "Grace", "Alan"]

  private static func users(_ routes: inout TestServer.Routes) {
    routes.on("GET", "/user/detail.do") { request in
      guard let id = request.query("userid").flatMap({ Int($0) }), (1...1_000_000).contains(id) else {
        return .json(#"{"code":404,"message":"没有这个用户"}"#)
      }
      let name = names[id % names.count]
      let user = #"{"code":200,"message":"ok","data":{"userid":\#(id),"name":"\#(name)","followers":\#(id * 100)}}"#
      // A higher ID has a shorter delay, so that the tour shows results in order of arrival.
      return .json(user).delayed(by: max(0, 0.25 - 0.05 * Double(id)))
    }
    routes.on("POST", "/like") { _ in .json(#"{"code":200,"message":"ok","data":true}"#) }
    routes.on("GET", "/account") { _ in .json(#"{"code":40301,"message":"请先登录"}"#) }
  }

  private static func feed(_ routes: inout TestServer.Routes) {
    let titles = ["外滩的早晨", "Harbour at night", "雨后的胡同", "Fog over the valley", "地铁里的人", "Last light", "雪山"]
    routes.on("GET", "/feed") { request in
      let start = request.query("cursor").flatMap { Int($0) } ?? 0
      guard titles.indices.contains(start) else { return .json(#"{"code":400,"message":"no such cursor"}"#) }
      let end = min(start + 3, titles.count)
      let posts = (start..<end).map { index in
        #"{"post_id":\#(index + 1),"title":"\#(titles[index])","image_count":\#(index % 4 + 1)}"#
      }
      let cursor = end < titles.count ? "\"\(end)\"" : "null"
      let body = #"{"code":200,"message":"ok","data":[\#(posts.joined(separator: ","))],"cursor":\#(cursor)}"#
      return .json(body).delayed(by: 0.1)
    }
    routes.on("GET", "/posts") { request in
      .json(#"{"code":200,"data":[{"post_id":\#(request.query("userid") ?? "0"),"title":"雪山","image_count":2}]}"#)
    }
  }

  private static func movies(_ routes: inout TestServer.Routes) {
    routes.on("GET", "/3/movie/now_playing") { request in
      guard request.query("api_key") != nil else {
        return .json(#"{"status_message":"Invalid API key"}"#, status: 401)
      }
      return .json(
        #"{"page":\#(request.query("page") ?? "1"),"total_results":2,"total_pages":1,"results":["#
          + #"{"id":11,"title":"Modern Times","vote_average":8.3},{"id":12,"title":"小城之春","vote_average":7.9}]}"#)
    }
  }

  private static func shop(_ routes: inout TestServer.Routes) {
    routes.on("GET", "/shop/cart") { _ in .json(#"{"status":0,"msg":"","result":{"items":2,"total":59.90}}"#) }
    routes.on("POST", "/shop/pay") { _ in .json(#"{"status":17,"msg":"the card was declined","result":null}"#) }
  }
}

import Foundation
import NetLayer

/// A client of a Matrix server: tokens that expire, a room, rate limits, a long poll, pages.
@MainActor
struct Synapse {
  struct Session: Decodable, Sendable {
    var accessToken: String
    var refreshToken: String?
    var expiresInMs: Double?
    var token: Token {
      Token(access: accessToken, refresh: refreshToken, expiresAt: expiresInMs.map { .now + $0 / 1000 }, account: "ada")
    }
  }

  struct Room: Decodable, Sendable { var roomId: String }
  struct Sent: Decodable, Sendable { var eventId: String }
  struct Sync: Decodable, Sendable { var nextBatch: String }

  struct Event: Decodable, Sendable {
    struct Content: Decodable, Sendable { var body: String? }
    var type: String
    var content: Content
  }

  let accounts: Network
  let api: Network
  let authentication: AuthenticationInterceptor

  init(url: URL) {
    let backend = Backend(baseURL: url.appending(path: "_matrix/client/v3"), coding: .snakeCase)
    let accounts = Network(backend)
    authentication = AuthenticationInterceptor(for: [url]) { old in
      let session = try await accounts.fetch(.post("/refresh", json: ["refresh_token": old?.refresh]), as: Session.self)
      return session.token
    }
    let retry = RetryInterceptor(requestedDelay: { response in
      (try? response.decode(Int.self, at: "retry_after_ms")).map { .milliseconds($0) }
    })
    self.accounts = accounts
    api = Network(backend).with { [authentication] in $0.interceptors = [retry, authentication] }
  }

  func send(_ text: String, to room: Room) async throws(NetworkError) {
    try await api.fetch(
      .put(
        ["rooms", room.roomId, "send", "m.room.message", UUID().uuidString],
        json: ["msgtype": "m.text", "body": text]))
  }

  func run() async {
    var room = Room(roomId: "")
    await check("401: the message of the server") {
      let error = try await failure { try await accounts.fetch(.get("/sync")) }
      try equal(error.status, 401)
      try equal(error.message, "Missing access token")
    }
    await check("a user, and a room whose name needs escaping") {
      struct Registration: Encodable, Sendable {
        var auth = ["type": "m.login.dummy"]
        var username = "ada"
        var password = "p ü&=1"
        var refreshToken = true
      }
      let session = try await accounts.fetch(.post("/register", json: Registration()), as: Session.self)
      try await authentication.setToken(session.token)
      room = try await api.fetch(.post("/createRoom", json: ["name": "Tee"]), as: Room.self)
      try expect(room.roomId.hasPrefix("!"), room.roomId)
    }
    await check("429 with retry_after_ms: 15 messages at 5 a second") {
      for number in 1...15 { try await send("\(number)", to: room) }
    }
    await check("an expired token: one refresh for 10 concurrent calls") {
      let before = try await authentication.token
      try await Task.sleep(for: .seconds(3.2))
      let names = try await api.zip((1...10).map { _ in Call.get("/account/whoami") }, as: JSON.self).value
      try equal(Set(names.compactMap { $0["user_id"].string }), ["@ada:localhost"])
      try expect(try await authentication.token != before, "the token was not refreshed")
    }
    await check("a long poll ends with the message that arrives") {
      let sync = try await api.fetch(.get("/sync", query: ["timeout": 0]), as: Sync.self)
      let call = Call.get("/sync", query: ["since": sync.nextBatch, "timeout": 30_000]).longPoll(.seconds(40))
      async let news = api.fetch(call, as: JSON.self)
      try await send("news", to: room)
      let events = try await news["rooms"]["join"][room.roomId]["timeline"]["events"].array ?? []
      try equal(events.compactMap { $0[at: "content.body"].string }, ["news"])
    }
    await check("pages of messages, by a cursor") {
      let pages = api.pages(
        .get(["rooms", room.roomId, "messages"], query: ["dir": "b", "limit": 4]), of: Event.self, at: "chunk",
        by: .cursor(at: "end", parameter: "from"))
      var texts: [String] = []
      for try await page in pages.values { texts += page.items.compactMap(\.content.body) }
      try equal(texts, ["news"] + (1...15).reversed().map { "\($0)" })
    }
    await check("the server is killed and restarted: the token is still valid or refreshed") {
      try Control.kill("synapse")
      try equal(try await failure { try await accounts.fetch(.get("/sync")) }.kind, .connection)
      try Control.start("synapse")
      try equal(try await api.fetch(.get("/account/whoami"), as: JSON.self)["user_id"].string, "@ada:localhost")
    }
  }
}

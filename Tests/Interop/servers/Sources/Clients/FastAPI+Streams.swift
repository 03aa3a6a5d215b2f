import Foundation
import NetLayer

extension FastAPI {
  struct Grant: Decodable, Sendable {
    var accessToken: String
    var refreshToken: String
    var expiresIn: Double
    var token: Token { Token(access: accessToken, refresh: refreshToken, expiresAt: .now + expiresIn) }
  }

  struct User: Decodable, Sendable {
    var name: String
    var grants: Int
  }

  func tokens() async {
    await check("401: one refresh for 20 concurrent calls with an expired token") {
      let authentication = AuthenticationInterceptor(for: [url]) { [api] old in
        let form: Parameters = ["grant_type": "refresh_token", "refresh_token": old?.refresh]
        return try await api.fetch(.post("/token", form: form), as: Grant.self).token
      }
      let login: Parameters = ["grant_type": "password", "username": "ada", "password": "p ü&=+"]
      try await authentication.setToken(api.fetch(.post("/token", form: login), as: Grant.self).token)
      let signedIn = api.with { $0.interceptors.append(authentication) }
      try equal(try await signedIn.fetch(.get("/me"), as: User.self).name, "Ada")

      try await api.fetch(.post("/expire"))
      let users = try await signedIn.zip((1...20).map { _ in Call.get("/me") }, as: User.self).value
      try equal(users.map(\.grants), Array(repeating: 1, count: 20))
    }
    await check("a refused refresh is an error of kind authentication with the cause") {
      let authentication = AuthenticationInterceptor(for: [url]) { [api] _ in
        let form: Parameters = ["grant_type": "refresh_token", "refresh_token": "revoked"]
        return try await api.fetch(.post("/token", form: form), as: Grant.self).token
      }
      let signedOut = api.with { $0.interceptors.append(authentication) }
      let error = try await failure { try await signedOut.fetch(.get("/me")) }
      try equal(error.kind, .authentication)
      try expect(error.reason.contains("invalid_grant"), error.reason)
    }
  }

  func streams() async {
    await check("lines") {
      var numbers: [Int] = []
      for try await row in api.lines(.get("/lines?count=1000"), as: Row.self, until: { $0.number == 999 }).values {
        numbers.append(row.number)
      }
      try equal(numbers, Array(0..<1000))
    }
    await check("events: reconnects after the last event, without duplicates") {
      var numbers: [Int] = []
      for try await event in api.events(.get("/events")).take(7).values {
        try equal(event.event, "tick")
        numbers.append(try event.decode(Row.self).number)
      }
      try equal(numbers, Array(1...7))
    }
    await check("the server is killed in the middle of a body, and restarted: the lines before, then an error") {
      var numbers: [Int] = []
      let error = try await failure {
        for try await row in api.lines(.get("/lines?count=3&stall=true"), as: Row.self).values {
          numbers.append(row.number)
          if row.number == 2 { try Control.kill(server) }
        }
      }
      try equal(numbers, [0, 1, 2])
      try equal(error.kind, .connection)
      try equal(try await failure { try await api.fetch(.get("/search?q=a")) }.kind, .connection)
      try Control.start(server)
      try await api.fetch(.get("/search?q=a"))
    }
  }

  func sockets() async {
    await check("a WebSocket: subprotocol, models, an expected close code") {
      let options = WebSocketOptions(subprotocols: ["chat.v1"], expectedCloseCodes: [4001])
      let close = try await api.withWebSocket(.get("/chat"), options: options) { socket in
        try equal(socket.subprotocol, "chat.v1")
        try await socket.send("ü")
        try await socket.send("bye")
        for try await message in socket.messages(as: Echo.self) { try equal(message.echo, "ü") }
        return socket.serverClose
      }
      try equal(close?.code.rawValue, 4001)
      try equal(close?.reason, "signed out")
    }
    await check("a WebSocket at the wrong path is an error of kind status") {
      let error = try await failure { try await api.withWebSocket(.get("/nowhere")) { _ in } }
      try equal(error.kind, .status)
      try expect([403, 404].contains(error.code), "\(error.code)")
    }
  }

  func large() async {
    let size = 100 << 20
    await check("100 MB: fetch fails with tooLarge, and names the setting") {
      let error = try await failure { _ = try await api.fetch(.get("/big", query: ["size": size]), as: Data.self) }
      try equal(error.kind, .tooLarge)
      try expect(error.reason.contains("maxBodySize"), error.reason)
    }
    await check("100 MB: withStream, and fetch with a raised limit") {
      let received = try await api.withStream(.get("/big", query: ["size": size])) { streamed in
        var received = 0
        for try await chunk in streamed.chunks { received += chunk.count }
        return received
      }
      try equal(received, size)
      let patient = api.with { $0.options.maxBodySize = 128 << 20 }
      try equal(try await patient.fetch(.get("/big", query: ["size": size]), as: Data.self).count, size)
    }
    await check("100 MB: a download into a file") {
      let file = Control.file("download.bin")
      let events = api.transfer(downloading: .get("/big", query: ["size": size]), to: file)
      let saved = try await events.compactMap(\.result).asSingle().value
      try expect(try Data(contentsOf: saved) == Self.pattern(size), "the file differs")
    }
    await check("100 MB: an upload of a file, and in a multipart form") {
      let file = Control.file("big.bin")
      let put = try await api.fetch(.put("/raw", .upload(file)), as: JSON.self)
      try Checks.same("raw", put)
      var form = MultipartForm(["title": "big"])
      form.append(.file(file, name: "files"))
      let posted = try await api.fetch(.post("/upload", .multipart(form)), as: JSON.self)
      try equal(posted[at: "files[0].sha256"], put["sha256"])
    }
  }

  /// The body that the server sends for `size`.
  private static func pattern(_ size: Int) -> Data {
    var data = Data(0...255)
    while data.count < size { data.append(data) }
    return data.prefix(size)
  }

  func connections() async {
    await check("a kept connection that the server has closed when idle is not used for a POST") {
      let api = try FastAPI(url: url, server: server).api
      let first = try await api.fetch(.get("/client"), as: Port.self)
      try equal(try await api.fetch(.get("/client"), as: Port.self).port, first.port)
      try await Task.sleep(for: .milliseconds(1500))
      try expect(try await api.fetch(.post("/client"), as: Port.self).port != first.port, "the connection was reused")
    }
  }
}

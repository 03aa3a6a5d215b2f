import Foundation
import NetLayer

/// A client of Jupyter Server: files, a session with XSRF cookies, and a kernel over a WebSocket.
@MainActor
struct Jupyter {
  struct Kernel: Decodable, Sendable { var id: String }

  struct File: Codable, Sendable {
    var type = "file"
    var format = "text"
    var content: String
  }

  /// A message to a kernel.
  struct Execute: Encodable, Sendable {
    struct Header: Encodable, Sendable {
      var msgId = UUID().uuidString
      var msgType = "execute_request"
      var username = "ada"
      var session = UUID().uuidString
      var version = "5.3"
    }
    struct Content: Encodable, Sendable {
      var code: String
      var silent = false
    }
    var channel = "shell"
    var header = Header()
    var parentHeader: [String: String] = [:]
    var metadata: [String: String] = [:]
    var content: Content
  }

  let api: Network
  let page: Network

  init(url: URL) {
    let backend = Backend(baseURL: url, coding: .snakeCase, interceptors: [RetryInterceptor()])
    api = Network(backend).with { $0.headers = ["Authorization": "token secret"] }
    page = Network(backend).with {
      $0.options.cookies = CookieJar()
      $0.interceptors.append(XSRFInterceptor(cookie: "_xsrf", header: "X-XSRFToken"))
    }
  }

  /// Runs `code` and returns what it prints.
  func output(of code: String, in kernel: Kernel) async throws -> String {
    let options = WebSocketOptions(maxMessageSize: 8 << 20)
    return try await api.withWebSocket(.get(["api", "kernels", kernel.id, "channels"]), options: options) { socket in
      let request = Execute(content: .init(code: code))
      try await socket.send(json: request)
      var output = ""
      for try await message in socket.messages(as: JSON.self) {
        guard message[at: "parent_header.msg_id"].string == request.header.msgId else { continue }
        if message["msg_type"].string == "stream" { output += message[at: "content.text"].string ?? "" }
        if message[at: "content.execution_state"].string == "idle" { break }
      }
      return output
    }
  }

  func run() async {
    await check("403 without a token, with the message of the server") {
      let error = try await failure { try await api.with { $0.headers = [:] }.fetch(.get("/api/contents")) }
      try equal(error.status, 403)
      try equal(error.message, "Forbidden")
    }
    await check("a file is written and read, with a space and an umlaut in its name") {
      let path = ["api", "contents", "grüner tee #1.txt"]
      try equal(try await api.fetch(.put(path, json: File(content: "ü\n"))).status, 201)
      try equal(try await api.fetch(.get(path), as: File.self).content, "ü\n")
      try await api.fetch(.delete(path))
      try equal(try await failure { try await api.fetch(.get(path)) }.status, 404)
    }
    await check("a session with cookies: a POST without the XSRF field fails, and with it succeeds") {
      try await page.fetch(.get("/login", query: ["token": "secret"]))
      let plain = page.with { $0.interceptors.removeLast() }
      let error = try await failure { try await plain.fetch(.post("/api/contents", json: ["type": "directory"])) }
      try equal(error.status, 403)
      try expect(error.description.contains("_xsrf"), error.description)
      try equal(try await page.fetch(.post("/api/contents", json: ["type": "directory"])).status, 201)
    }
    await check("a kernel: its output over a WebSocket, also 2 MB in one message") {
      let kernel = try await api.fetch(.post("/api/kernels", json: ["name": "python3"]), as: Kernel.self)
      try equal(try await output(of: "print(6 * 7, 'ü')", in: kernel), "42 ü\n")
      try equal(try await output(of: "print('x' * 2_000_000)", in: kernel).count, 2_000_001)
      try await api.fetch(.delete(["api", "kernels", kernel.id]))
    }
    await check("the socket of an unknown kernel is an error of kind status") {
      let error = try await failure {
        try await api.withWebSocket(.get("/api/kernels/00000000-0000-0000-0000-000000000000/channels")) { _ in }
      }
      try equal(error.status, 404)
    }
  }
}

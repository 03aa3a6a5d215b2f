import Foundation
import NetLayer

/// A client of a FastAPI application: forms, uploads, errors of validation, tokens, streams and WebSockets.
@MainActor
struct FastAPI {
  struct Item: Codable, Sendable {
    var name: String
    var unitPrice: Double
    var tags: [String] = []
  }

  struct Row: Decodable, Sendable { var number: Int }
  struct Echo: Decodable, Sendable { var echo: String }
  struct Numbers: Decodable, Sendable { var results: [Int] }
  struct Port: Decodable, Sendable { var port: Int }

  /// The body of an error of validation.
  struct Invalid: Decodable, Sendable {
    struct Detail: Decodable, Sendable { var msg: String }
    var detail: [Detail]
  }

  let url: URL
  let server: String
  let api: Network

  init(url: URL, server: String) throws {
    self.url = url
    self.server = server
    let trust: TLSOptions.Trust = url.scheme == "https" ? .pem(file: Control.file("ca.pem")) : .system
    let transport = try CurlTransport(.init(tls: .init(trust: trust)))
    api = Network(
      Backend(
        baseURL: url, coding: .snakeCase, queryEncoding: URLParameterEncoder(arrays: .repeated, bools: .literal),
        transport: transport))
  }

  func run() async {
    await bodies()
    await errors()
    await tokens()
    await streams()
    await sockets()
    await large()
    await connections()
  }

  private func bodies() async {
    await check("JSON: a model as the body, and the Location of what was created") {
      let item = Item(name: "Tee ü", unitPrice: 2.5, tags: ["a"])
      let added = try await api.fetch(.post("/items", json: item))
      try Checks.same("item", added.json())
      try equal(added.location?.path(), "/items/7")
    }
    await check("a query with an array and a Boolean") {
      let found = try await api.fetch(
        .get("/search", query: ["q": "tea & ü+%", "tag": ["a b", "c"], "done": true]), as: JSON.self)
      try Checks.same("search", found)
    }
    await check("a path with a slash, a space and a question mark in a component") {
      try Checks.same("path", try await api.fetch(.get(["paths", "a/b ü?#"]), as: JSON.self))
    }
    await check("a form") {
      let form: Parameters = ["user": "ada lovelace", "text": "ü&=+\r\n"]
      try Checks.same("form", try await api.fetch(.post("/form", form: form), as: [String: String].self))
    }
    await check("a multipart form with two files of one name") {
      var form = MultipartForm(["title": "Fotos ü"])
      form.append(.data(Data("tea\r\n".utf8), name: "files", filename: "a b+ü#%.txt", contentType: "text/plain"))
      form.append(.data(Data(0...255), name: "files", filename: #"q"uote;.bin"#))
      try Checks.same("upload", try await api.fetch(.post("/upload", .multipart(form)), as: JSON.self))
    }
    await check("a redirect") {
      try Checks.same("moved", try await api.fetch(.get("/moved"), as: JSON.self))
    }
    await check("text in Latin-1") {
      try Checks.same("latin1", try await api.fetch(.get("/latin1"), as: String.self))
    }
    await check("204, also as an optional model") {
      try await api.fetch(.delete("/items/7"))
      let none = try await api.fetch(.delete("/items/7"), as: Item?.self)
      try expect(none == nil, "\(String(describing: none))")
    }
    await check("pages by the next URL in the body") {
      let all = try await api.fetchAll(.get("/pages"), of: Int.self, at: "results", by: .link(at: "next"))
      try equal(all, [1, 2, 3, 4, 5, 6])
    }
  }

  private func errors() async {
    await check("422: the message of the server, and its details") {
      let item = Item(name: "Tee", unitPrice: -1)
      let error = try await failure { try await api.fetch(.post("/items", json: item)) }
      try equal(error.status, 422)
      let details = try error.body(as: Invalid.self).detail
      try equal(error.message, details.first?.msg ?? "")
      try Checks.same("invalid", try error.response?.json() ?? [:])
    }
    await check("429: the delay of Retry-After, twice") {
      let patient = api.with { $0.interceptors.append(RetryInterceptor()) }
      let start = ContinuousClock.now
      let response = try await patient.fetch(.get("/limited"))
      try equal(response.request.attempt, 3)
      try expect(ContinuousClock.now - start >= .seconds(2), "the client did not wait")
    }
    await check("429 without retries: the message of the server") {
      try equal(try await failure { try await api.fetch(.get("/limited")) }.message, "Slow down")
    }
  }
}

import Foundation
import NetLayer

/// A client of a server in front: compressed files, validators, ranges, Digest, and a gateway to another server.
@MainActor
struct Files {
  struct Item: Codable, Sendable {
    var id: Int
    var name: String
  }

  let url: URL
  let server: String
  let api: Network

  init(url: URL, server: String) {
    self.url = url
    self.server = server
    api = Network(Backend(baseURL: url))
  }

  /// Returns the number of lines in the server's log that contain `text`.
  private func log(_ text: String) async throws -> Int {
    // The server writes the line after the response.
    for _ in 1...100 {
      let count = try String(contentsOf: Control.file("access.log"), encoding: .utf8).split(separator: "\n")
        .count { $0.contains(text) }
      if count > 0 { return count }
      try await Task.sleep(for: .milliseconds(100))
    }
    return 0
  }

  func run() async {
    await check("JSON with gzip: decoded, and fewer bytes than the models") {
      let response = try await api.fetch(.get("/data.json"))
      try Checks.same("data", try response.decode([Item].self))
      let received = response.metrics?.bytesReceived ?? 0
      try expect(received > 0 && Int(received) < response.body.count / 4, "\(received) of \(response.body.count) bytes")
    }
    await check("a cache revalidates with the ETag: 304, and the stored models") {
      let cached = api.with { $0.interceptors.append(CacheInterceptor(ResponseCache(storingIn: nil))) }
      let first = try await cached.fetch(.get("/data.json"), as: [Item].self)
      let again = try await cached.fetch(.get("/data.json").header("Cache-Control", "no-cache"), as: [Item].self)
      try equal(again.count, first.count)
      try expect(try await log("304") >= 1, "no 304 in the log of the server")
    }
    await check("a range from the end") {
      let part = try await api.fetch(.get("/big.bin", headers: ["Range": "bytes=-10"]))
      try equal(part.status, 206)
      try Checks.same("part", Hash.hex(part.body))
    }
    await check("a range beyond the end is an error with status 416") {
      let error = try await failure { try await api.fetch(.get("/big.bin", headers: ["Range": "bytes=999999999-"])) }
      try equal(error.status, 416)
    }
    await check("100 MB: a download that is stopped, the server killed and restarted, and the download resumed") {
      let file = Control.file("download.bin")
      let download = api.transfer(downloading: .get("/big.bin"), to: file)
      for try await event in download.values where (event.progress?.received ?? 0) > 20 << 20 { break }
      try Control.kill(server)
      let error = try await failure { for try await _ in download.values {} }
      try equal(error.kind, .connection)
      try Control.start(server)
      var first: Int64?
      for try await event in download.values { first = first ?? event.progress?.received }
      try expect(first ?? 0 > 10 << 20, "the download began again: \(first ?? 0) bytes")
      try expect(try Data(contentsOf: file) == Data(contentsOf: Control.file("root/big.bin")), "the file differs")
    }
    await check("Digest: the challenge, later requests without one, and a wrong password") {
      let camera = api.with { $0.interceptors.append(ChallengeInterceptor(for: [url], user: "ada", password: "p&=1")) }
      for _ in 1...3 { try Checks.same("private", try await camera.fetch(.get("/private/data.json"), as: JSON.self)) }
      let wrong = api.with { $0.interceptors.append(ChallengeInterceptor(for: [url], user: "ada", password: "x")) }
      try equal(try await failure { try await wrong.fetch(.get("/private/data.json")) }.status, 401)
    }
    await check("a folder without its slash: a redirect") {
      let response = try await api.fetch(.get("/folder"))
      try Checks.same("folder", try response.text())
      try equal(response.redirects.count, 1)
    }
    await check("a gateway: JSON, lines, 100 MB up") {
      let found = try await api.fetch(.get("/api/search?q=tea"), as: JSON.self)
      try equal(found["q"].string, "tea")
      let rows = try await api.lines(.get("/api/lines?count=100"), as: FastAPI.Row.self).toArray().value
      try equal(rows.count, 100)
      let sent = try await api.fetch(.put("/api/raw", .upload(Control.file("root/big.bin"))), as: JSON.self)
      try Checks.same("big", sent["sha256"].string)
    }
    await check("the server behind is killed in the middle of a body: an error; then 502 or 503; then a retry succeeds")
    {
      var numbers: [Int] = []
      let error = try await failure {
        for try await row in api.lines(.get("/api/lines?count=3&stall=true"), as: FastAPI.Row.self).values {
          numbers.append(row.number)
          if row.number == 2 { try Control.kill("origin") }
        }
      }
      try equal(numbers, [0, 1, 2])
      try equal(error.kind, .connection)
      let unavailable = try await failure { try await api.fetch(.get("/api/search?q=tea")) }
      try expect([502, 503].contains(unavailable.status ?? 0), unavailable.description)
      let patient = api.with {
        $0.interceptors.append(RetryInterceptor(policy: RetryPolicy(attempts: 6, initialDelay: .milliseconds(500))))
      }
      async let found = patient.fetch(.get("/api/search?q=tea"))
      try Control.start("origin")
      try equal(try await found.status, 200)
    }
  }
}

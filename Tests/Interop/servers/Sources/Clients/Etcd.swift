import Foundation
import NetLayer

/// A client of the JSON gateway of etcd: keys, a transaction, a watch as a stream of lines.
@MainActor
struct Etcd {
  struct Pair: Decodable, Sendable {
    var key: Data
    var value: Data
    var text: String { String(decoding: value, as: UTF8.self) }
  }

  struct Range: Decodable, Sendable { var kvs: [Pair]? }

  /// A line of a watch.
  struct Change: Decodable, Sendable {
    struct Event: Decodable, Sendable { var kv: Pair }
    struct Result: Decodable, Sendable { var events: [Event]? }
    var result: Result
  }

  let api: Network

  init(url: URL) { api = Network(Backend(baseURL: url, interceptors: [RetryInterceptor()])) }

  func put(_ key: String, _ value: String) async throws(NetworkError) {
    try await api.fetch(.post("/v3/kv/put", json: ["key": Data(key.utf8), "value": Data(value.utf8)]))
  }

  func value(of key: String) async throws(NetworkError) -> String? {
    try await api.fetch(.post("/v3/kv/range", json: ["key": Data(key.utf8)]), as: Range.self).kvs?.first?.text
  }

  /// Emits the values of each change. The first element is empty: the server has begun to watch.
  func changes(of key: String) -> Observable<[String]> {
    let watch = ["create_request": ["key": Data(key.utf8)]]
    return api.lines(.post("/v3/watch", json: watch), as: Change.self).map { ($0.result.events ?? []).map(\.kv.text) }
  }

  func run() async {
    await check("a key is written and read") {
      try await put("tea", "grün")
      try equal(try await value(of: "tea"), "grün")
      try equal(try await value(of: "coffee"), nil)
    }
    await check("an error has the message of the server") {
      let error = try await failure { try await api.fetch(.post("/v3/kv/range", json: ["key": "not base64"])) }
      try equal(error.status, 400)
      try expect(error.message.contains("illegal base64"), error.message)
    }
    await check("the text of a plain 404 is in the reason") {
      let error = try await failure { try await api.fetch(.get("/nowhere")) }
      try equal(error.status, 404)
      try expect(error.reason.contains("404 page not found"), error.reason)
    }
    await check("a watch emits each change; a call during the watch uses another connection") {
      var values: [String] = []
      for try await texts in changes(of: "tea").values {
        values += texts
        if values.count == 3 { break }
        try await put("tea", "\(values.count)")
      }
      try equal(values, ["0", "1", "2"])
    }
    await check("the server is killed during a watch, and restarted: an error, then the stored value") {
      var values: [String] = []
      let error = try await failure {
        for try await texts in changes(of: "tea").values {
          values += texts
          if values.isEmpty { try await put("tea", "last") } else { try Control.kill("etcd") }
        }
      }
      try equal(values, ["last"])
      try equal(error.kind, .connection)
      try Control.start("etcd")
      try equal(try await value(of: "tea"), "last")
    }
  }
}

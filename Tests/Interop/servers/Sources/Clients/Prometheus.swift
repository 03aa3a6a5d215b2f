import Foundation
import NetLayer

/// A client of the HTTP API of Prometheus, whose responses have the envelope `{status, data, errorType, error}`.
@MainActor
struct Prometheus {
  /// The result of a query. A sample is a time and a value as text: `[1700000000.5, "1"]`.
  struct Vector: Decodable, Sendable {
    struct Series: Decodable, Sendable {
      var metric: [String: String]
      var value: Sample
    }
    var resultType: String
    var result: [Series]
  }

  struct Sample: Decodable, Sendable {
    var time: Double
    var value: Double

    init(from decoder: any Decoder) throws {
      var values = try decoder.unkeyedContainer()
      time = try values.decode(Double.self)
      value = Double(try values.decode(String.self)) ?? .nan
    }
  }

  let url: URL
  let api: Network

  init(url: URL) {
    self.url = url
    api = Network(
      Backend(
        baseURL: url.appending(path: "api/v1"),
        envelope: Envelope(code: "status", success: "success", message: "error", data: "data"),
        queryEncoding: URLParameterEncoder(arrays: .repeated)))
  }

  func query(_ expression: String) async throws(NetworkError) -> [Vector.Series] {
    try await api.fetch(.get("/query", query: ["query": expression]), as: Vector.self).result
  }

  func run() async {
    await check("a query, unwrapped from the envelope") {
      let series = try await query("vector(1.5) + 1")
      try equal(series.map(\.value.value), [2.5])
    }
    await check("a query as a form, with every character that needs escaping") {
      let text = #"label_replace(vector(1), "dst", "a+b & c=ü", "", ".*")"#
      let series = try await api.fetch(.post("/query", form: ["query": text]), as: Vector.self).result
      try equal(series.first?.metric, ["dst": "a+b & c=ü"])
    }
    await check("a target is up after its first scrape") {
      let clock = ConcurrentDispatchQueueScheduler(qos: .utility)
      let up = try await Observable<Int>.interval(.milliseconds(200), scheduler: clock)
        .flatMapFirst { [api] _ in api.request(.get("/query", query: ["query": "up"]), as: Vector.self).asObservable() }
        .compactMap { $0.result.first }
        .take(1).asSingle().value
      try equal(up.value.value, 1)
      try Checks.same("up", up.metric["job"])
    }
    await check("an invalid query: 400, with the error of the envelope") {
      let error = try await failure { _ = try await query("up{") }
      try Checks.same("invalid", error.message)
      try equal(error.status, 400)
      try equal(try error.response?.json()["errorType"].string, "bad_data")
    }
    await check("labels and series, with match[] twice") {
      let labels = try await api.fetch(.get("/label/job/values"), as: [String].self)
      try equal(labels, ["prometheus"])
      let query: Parameters = ["match[]": ["up", "prometheus_build_info"]]
      let series = try await api.fetch(.get("/series", query: query), as: [[String: String]].self)
      try equal(series.compactMap { $0["__name__"] }.sorted(), ["prometheus_build_info", "up"])
    }
    await check("metrics as text, outside of the envelope") {
      let metrics = try await api.with { $0.envelope = .none }.fetch(
        .get(url.appending(path: "metrics")), as: String.self)
      try expect(metrics.contains("prometheus_build_info"), String(metrics.prefix(200)))
    }
  }
}

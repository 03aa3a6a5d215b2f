import Foundation
import NetLayer
import NetLayerInspector
import NetLayerTesting

/// Calls with values that a page must show as text, in every place that a server or an app can fill.
struct Hostile {
  private struct File: Decodable {
    struct Value: Decodable {
      var id: String
      var text: String?
      var base64: String?
    }
    var values: [Value]
  }

  private let values: [File.Value]

  init(_ file: URL) throws { values = try JSONDecoder().decode(File.self, from: Data(contentsOf: file)).values }

  func run() async throws {
    let recorder = Recorder()
    for value in values {
      let text = value.text ?? value.id
      let body = value.base64.flatMap { Data(base64Encoded: $0) } ?? Data(text.utf8)
      let json = try JSONEncoder().encode([text: [text]])
      let stub = StubTransport { request in
        switch request.url.path {
        case "/text": .response(headers: ["Content-Type": "text/html", "X-Value": text], body: body)
        case "/json": .response(headers: ["Content-Type": "application/json"], body: json)
        case "/image": .response(headers: ["Content-Type": "image/svg+xml"], body: body)
        case "/events":
          .chunks(
            [Data("event: x\n".utf8)] + text.split(whereSeparator: \.isNewline).map { Data("data: \($0)\n".utf8) }
              + [Data("\n".utf8)], headers: ["Content-Type": "text/event-stream"])
        default: .failure(.connection)
        }
      }
      guard let url = URL(string: "https://api.example.com") else { continue }
      let network = Network(Backend(baseURL: url, transport: stub, interceptors: [recorder]))
      for path in ["/text", "/json", "/image"] {
        _ = try? await network.fetch(
          Call(HTTPMethod(rawValue: text), path, task: .data(Data(text.utf8), contentType: text), query: ["v": text]))
      }
      let refused = try JSONEncoder().encode(["code": "17", "message": text])
      let envelope = Envelope(code: "code", success: 0, message: "message", data: "data")
      let shop = Network(
        Backend(
          baseURL: url, envelope: envelope, transport: StubTransport { _ in .response(body: refused) },
          interceptors: [recorder]))
      _ = try? await shop.fetch(.get("/shop").header("X-Sent", text), as: Int.self)
      for try await _ in network.events(.get("/events", query: ["v": text])).take(1).values {}
    }
    let inspector = try Inspector(recorder)
    tell(inspector.url.absoluteString)
    await waitForEnd()
    withExtendedLifetime(inspector) {}
  }
}

// Each function that awaits, in top-level code, where the compiler prefers a function that does not.
import Foundation
import NetLayerOAuth
import NetLayerOffline
import NetLayerQueries

struct Item: Codable, Sendable { var id: Int }
struct Feed: Endpoint {
  typealias Output = [Item]
  var path: String { "/feed" }
}

let network = Network()
let file = URL(filePath: "/tmp/file")
let session = network.webSocket(.get("/socket"))

_ = try await network.response(.get("/x"))
try await network.fetch(.delete("/x"))
let item: Item = try await network.fetch(.get("/x"))
let items = try await network.fetch(.get("/x"), as: [Item].self)
let feed = try await network.fetch(Feed())
_ = try await network.fetchAll(.get("/x"), of: Item.self)
_ = try await network.preparedRequest(for: .get("/x"))
_ = try await network.fetch(Feed(), editing: Feed()) { $0 = [] }
_ = try await network.fetch(Feed(), edits: [])
_ = try await network.fetch(Feed(), updating: Feed())
try await network.download(.get("/file"), to: file)
try await network.upload(file, to: .post("/files"), by: .tus)
try await network.withStream(.get("/stream")) { _ in }
try await network.withWebSocket(.get("/socket")) { socket in
  try await socket.send("hi")
  try await socket.send(.text("hi"))
  try await socket.send(json: Item(id: 1))
}
try await session.send("hi")
try await session.send(.text("hi"))
try await session.send(json: Item(id: 1))
let server = try await OAuthServer.discovered(at: "https://as")
let login = OAuthClient(server: server, id: "cli")
var shown: [String] = []
_ = try await login.authorize(redirectingTo: "app:/cb") { page in
  shown.append(page.absoluteString)
  return page
}
_ = try await login.authorizeDevice(show: { shown.append($0.code) })
_ = try await login.authorizeOnLoopback(open: { print($0) })
_ = try await login.grant("urn:x", [:])
let token = try await login.clientCredentials()
try await login.revoke(login.refresh(token))
let authentication = AuthenticationInterceptor(for: [], refresh: login.refresh)
print(item, items, feed, shown, authentication)

import Hummingbird
import NetLayer
import Vapor

private func types(_ request: NetLayer.Request, _ response: NetLayer.Response, _ socket: NetLayer.WebSocket) -> [Any] {
  let headers: NetLayer.HTTPHeaders = ["Accept": "text/plain"]
  let (method, parameters): (NetLayer.HTTPMethod, NetLayer.Parameters) = (.get, ["page": 1])
  return [request, response, socket, headers, method, parameters, NetLayer.Router<Feed>.self]
}

private struct Feed: Endpoint {
  var path: String { "/feed" }
}

private func others() -> [Any] {
  [
    Vapor.Request(), Vapor.Response(), Vapor.WebSocket(), Vapor.HTTPHeaders(), Vapor.HTTPMethod.GET,
    Vapor.Parameters(), (any Vapor.Router).self, Hummingbird.Request(), Hummingbird.Response(),
    Hummingbird.Router<Int>(), Hummingbird.Parameters(),
  ]
}

import Foundation
import LoopbackServer
import NetLayer

/// The default network of the test process, which can be set only once, and its server.
enum SharedDefault {
  static let server = Result {
    var routes = TestServer.Routes()
    routes.on("GET", "/user/detail.do") { request in
      .json(#"{"code":200,"message":"ok","data":{"userid":\#(request.query("userid") ?? "7"),"name":"李"}}"#)
    }
    routes.on("GET", "/feed") { _ in .json(#"{"code":200,"data":[{"id":1},{"id":2}],"cursor":"next"}"#) }
    routes.on("POST", "/like") { _ in .json(#"{"code":200,"data":false}"#) }
    routes.on("GET", "/refused") { _ in .json(#"{"code":40301,"message":"请先登录"}"#) }
    let server = try TestServer(routes: routes)
    try Network.setDefault(
      Network(Backend(baseURL: server.url, commonParameters: { ["token": "secret"] }, envelope: .standard)))
    return server
  }

  /// Sets the default network, unless it is already set, and returns its server.
  @discardableResult
  static func install() throws -> TestServer { try server.get() }
}

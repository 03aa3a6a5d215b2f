import Foundation
import NetLayer

/// The one default network of the test process: it can be set only once.
enum SharedDefault {
  static let url = URL(string: "http://example.com")
  static let transport = FakeTransport { request in
    switch request.url.path {
    case "/user/detail.do": .answer(#"{"code":200,"message":"ok","data":{"userid":7,"name":"李"}}"#)
    case "/feed": .answer(#"{"code":200,"data":[{"id":1},{"id":2}],"cursor":"next"}"#)
    case "/like": .answer(#"{"code":200,"data":false}"#)
    case "/refused": .answer(#"{"code":40301,"message":"请先登录"}"#)
    default: .answer("not found", status: 404)
    }
  }
  private static let once: Void = {
    try? Network.setDefault(
      Network(Backend(baseURL: url, commonParameters: { ["token": "secret"] }, transport: transport)))
  }()

  static func install() { once }
}

import Foundation
import HTTPTransport
import NetLayer
import NetLayerTesting
import Streams
import TestSupport
import XCTest

final class XSRFInterceptorTests: XCTestCase {
  private func sent(_ cookie: String, _ call: Call<Response>) -> Request? {
    let jar = CookieJar()
    let stub = StubTransport { request in
      jar.store(["Set-Cookie": cookie], from: request.url)
      return .json("{}")
    }
    let api = Network(
      Backend(
        baseURL: URL(string: "http://h"), transport: stub, options: .init(cookies: jar),
        interceptors: [XSRFInterceptor()]))
    _ = record(api.request(.get("/sanctum"), as: NoContent.self))
    _ = record(api.request(call, as: NoContent.self))
    return stub.requests.count == 2 ? stub.requests.last : nil
  }

  func test_unsafeRequests_carryTheDecodedValue() {
    let rows: [(String, Call<Response>, String?)] = [
      ("XSRF-TOKEN=a%3D%3D", .post("/a"), "a=="), ("XSRF-TOKEN=a", .delete("/a"), "a"),
      ("XSRF-TOKEN=a", .get("/a"), nil),
      ("XSRF-TOKEN=a", .head("/a"), nil), ("other=a", .post("/a"), nil),
      ("XSRF-TOKEN=a%0D%0AX: y", .put("/a"), "a%0D%0AX: y"),
      ("XSRF-TOKEN=100%", .patch("/a"), "100%"), ("XSRF-TOKEN=a", .post("http://other/a"), nil),
      ("XSRF-TOKEN=a", Call.post("/a").header("x-xsrf-token", "mine"), "mine"),
    ]
    for (cookie, call, value) in rows {
      XCTAssertEqual(sent(cookie, call)?.headers["X-XSRF-TOKEN"], value, "\(cookie) \(call.method)")
    }
  }

  func test_field_isNotCarriedToAnotherOrigin() {
    XCTAssertEqual(sent("XSRF-TOKEN=a", .post("/a"))?.originBoundHeaders["X-XSRF-TOKEN"], "a")
  }
}

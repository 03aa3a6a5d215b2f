import Foundation
import HTTPTypes
import NetLayer
import NetLayerHTTPTypes
import XCTest

final class HTTPTypesTests: XCTestCase {
  func test_aRequestRoundTripsUnchanged() throws {
    for text in ["https://h/", "https://h:8443/a%20b/c?d=e%26f&g", "http://[::1]:80/x?"] {
      var request = HTTPRequest(method: .patch, url: try XCTUnwrap(URL(string: text)))
      request.headerFields[.accept] = "a"
      request.headerFields.append(HTTPField(name: .setCookie, value: "1"))
      request.headerFields.append(HTTPField(name: .setCookie, value: "2"))
      let ours = try Request(request, body: .data(Data("b".utf8)))
      XCTAssertEqual(ours.url.absoluteString, text)
      XCTAssertEqual(ours.method, .patch)
      XCTAssertEqual(ours.headers.values(of: "set-cookie"), ["1", "2"])
      XCTAssertEqual(HTTPRequest(ours), request)
    }
  }

  func test_aRequestWithoutAValidURLIsRejected() {
    for request in [
      HTTPRequest(method: .get, scheme: "https", authority: nil, path: "/"),
      HTTPRequest(method: .get, scheme: "https", authority: "", path: "/"),
      HTTPRequest(method: .get, scheme: "https", authority: "h h", path: "/"),
      HTTPRequest(method: .get, scheme: "https", authority: "h", path: "@evil.example/"),
      HTTPRequest(method: .get, scheme: "https", authority: "h", path: ".evil.example/"),
    ] {
      XCTAssertThrowsError(try Request(request)) { XCTAssertEqual(($0 as? NetworkError)?.kind, .invalidRequest) }
    }
    XCTAssertNil(HTTPRequest(Request(method: "A B", url: URL(filePath: "/x"))))
    XCTAssertNil(HTTPRequest(Request(method: .get, url: URL(filePath: "/x"))))
  }

  func test_aResponseKeepsStatusAndFields() throws {
    let request = Request(method: .get, url: try XCTUnwrap(URL(string: "http://h/")))
    let response = Response(request: request, url: request.url, status: 299, headers: ["X-A": "1", "bad name": "2"])
    XCTAssertEqual(HTTPResponse(response).status.code, 299)
    XCTAssertEqual(HTTPResponse(response).headerFields.map(\.name.rawName), ["X-A"])
  }
}

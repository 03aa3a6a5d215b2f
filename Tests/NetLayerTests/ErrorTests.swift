import HTTPTransport
import LoopbackServer
import NetLayer
import NetLayerTesting
import Streams
import TestSupport
import XCTest

/// A test of every kind of error: its code, its message in both languages, its cause, request and body.
final class ErrorTests: XCTestCase {
  private struct Case {
    var kind: NetworkError.Kind
    var code = -1212
    var english: String
    var chinese: String
    var hasRequest = true
    var body: String?
    var hasCause = false
    var call: (Network) -> Observable<Int>
  }

  private static let network = (
    "Could not connect to the server. Check your internet connection, and try again.", "网络状态不佳，请稍后再试。"
  )

  private func check(_ cases: [Case], _ transport: any Transport, line: UInt = #line) throws {
    for item in cases {
      for (messages, text) in [(NetworkError.Messages.english, item.english), (.chinese, item.chinese)] {
        let network = Network(
          Backend(
            baseURL: URL(string: "http://h"), envelope: .standard, messages: messages, transport: transport,
            timeouts: .init(connect: .seconds(2), idle: .seconds(2), attempt: .seconds(2))))
        let error = try failure(of: item.call(network), line: line)
        XCTAssertEqual(error.kind, item.kind, line: line)
        XCTAssertEqual(error.code, item.code, "\(item.kind)", line: line)
        XCTAssertEqual(error.message, text, "\(item.kind)", line: line)
        XCTAssertEqual(error.localizedDescription, text, line: line)
        XCTAssertEqual(error.request != nil, item.hasRequest, "\(item.kind)", line: line)
        XCTAssertEqual(error.response.map { String(decoding: $0.body, as: UTF8.self) }, item.body, line: line)
        XCTAssertEqual(error.underlying != nil, item.hasCause, "\(item.kind)", line: line)
        XCTAssertFalse(error.reason.isEmpty, line: line)
        #if HAS_URLSESSION
          let bridged = error as NSError
          XCTAssertEqual(bridged.domain, "NetLayer.NetworkError", line: line)
          XCTAssertEqual(bridged.code, item.code, line: line)
          XCTAssertEqual(bridged.userInfo[NSUnderlyingErrorKey] != nil, item.hasCause, line: line)
        #endif
      }
    }
  }

  func test_row_0_4_transportErrors() throws {
    let (english, chinese) = Self.network
    let texts: [(NetworkError.Kind, Int, String, String)] = [
      (.connection, -1212, english, chinese), (.unknownHost, -1212, english, chinese),
      (.timeout, -1212, "The request timed out. Please try again later.", "请求超时，请稍后再试。"),
      (.cancelled, -1212, "The request was cancelled.", "请求已取消。"),
      (.tls, -1212, "A secure connection could not be established.", "无法建立安全连接。"),
      (.redirect, -1212, "The server encountered an error. Please try again later.", "服务器异常，请稍后再试。"),
      (.tooLarge, -1212, "The server's response could not be read.", "服务器数据解析失败。"),
      (.invalidRequest, -1214, "The request could not be sent.", "请求参数有误。"),
      (.file, -1212, "The file could not be read or saved.", "文件读写失败。"),
    ]
    for (kind, code, english, chinese) in texts {
      let item = Case(kind: kind, code: code, english: english, chinese: chinese) { $0.json(.get, "/a").data() }
      try check([item], StubTransport { _ in .failure(kind) })
    }
  }

  func test_row_0_4_responseErrors() throws {
    let stub = StubTransport { request in
      switch request.url.path {
      case "/401": .response(status: 401)
      case "/403": .response(status: 403)
      case "/404": .response(status: 404)
      case "/400": .response(status: 400)
      case "/500": .response(status: 500, body: Data("<html>".utf8))
      case "/503": .json(#"{"code":5,"message":"busy"}"#, status: 503)
      case "/html": .response(body: Data("<html>".utf8))
      case "/shape": .json(#"{"code":200,"data":{"a":"x"}}"#)
      case "/silent": .json(#"{"code":7}"#)
      default: .json(#"{"code":40301,"message":"请先登录"}"#)
      }
    }
    let parse = ("The server's response could not be read.", "服务器数据解析失败。")
    let server = ("The server encountered an error. Please try again later.", "服务器异常，请稍后再试。")
    func get(_ path: String) -> (Network) -> Observable<Int> { { $0.json(.get, path).data() } }
    try check(
      [
        Case(
          kind: .status, code: 401, english: "You need to sign in to do this.", chinese: "请先登录。", body: "",
          call: get("/401")),
        Case(
          kind: .status, code: 403, english: "You are not allowed to do this.", chinese: "您没有权限执行此操作。", body: "",
          call: get("/403")),
        Case(
          kind: .status, code: 404, english: "The requested content does not exist.", chinese: "您访问的内容不存在。", body: "",
          call: get("/404")),
        Case(
          kind: .status, code: 400, english: "The request was rejected.", chinese: "请求被拒绝。", body: "", call: get("/400")
        ),
        Case(kind: .status, code: 500, english: server.0, chinese: server.1, body: "<html>", call: get("/500")),
        Case(
          kind: .status, code: 503, english: "busy", chinese: "busy", body: #"{"code":5,"message":"busy"}"#,
          call: get("/503")),
        Case(
          kind: .parse, code: -1213, english: parse.0, chinese: parse.1, body: "<html>", hasCause: true,
          call: get("/html")),
        Case(
          kind: .parse, code: -1213, english: parse.0, chinese: parse.1, body: #"{"code":200,"data":{"a":"x"}}"#,
          hasCause: true, call: get("/shape")),
        Case(
          kind: .rejected, code: 7, english: "The request was rejected.", chinese: "请求被拒绝。", body: #"{"code":7}"#,
          call: get("/silent")),
        Case(
          kind: .rejected, code: 40301, english: "请先登录", chinese: "请先登录",
          body: #"{"code":40301,"message":"请先登录"}"#, call: get("/refused")),
      ], stub)
  }

  func test_row_0_4_errorsBeforeSending() throws {
    let transport = StubTransport { _ in .json("{}") }
    let parameter = ("The request could not be sent.", "请求参数有误。")
    try check(
      [
        Case(
          kind: .encoding, code: -1214, english: parameter.0, chinese: parameter.1, hasCause: true,
          call: { $0.json(.post, "/a", parameters: ["x": Double.infinity]).data() }),
        Case(
          kind: .invalidRequest, code: -1214, english: parameter.0, chinese: parameter.1, hasRequest: false,
          call: { $0.json(.get, "/../a").data() }),
      ], transport)
    XCTAssertEqual(transport.requests.count, 0)
  }

  func test_row_0_4_foreignErrors_areWrapped_andAChainsErrorKeepsItsCause() throws {
    struct Strange: Interceptor {
      struct Cause: Error {}
      func intercept(_ request: Request, next: InterceptorChain) -> Observable<Response> { .error(Cause()) }
    }
    struct Get: Endpoint {
      var path: String { "/a" }
    }
    let (english, chinese) = ("Something went wrong. Please try again later.", "出错了，请稍后再试。")
    let call: (Network) -> Observable<Int> = { network in
      network.with { $0.interceptors = [Strange()] }.json(.get, "/a").data()
    }
    try check(
      [
        Case(
          kind: .other, english: english, chinese: chinese, hasRequest: false, hasCause: true, call: call),
        Case(
          kind: .timeout, english: "The request timed out. Please try again later.", chinese: "请求超时，请稍后再试。",
          call: { RequestChain(on: $0) { Get().as(Int.self) }.run() }),
      ], StubTransport { _ in .failure(.timeout) })
  }
}

import TestSupport
import XCTest

@testable import HTTPTransport
@testable import NetLayer

final class RedactionTests: XCTestCase {
  func test_row_2_19_secretsAreHiddenInAnyText() {
    for (text, hidden) in [
      ("a?token=x&b=1", "a?token=***&b=1"), ("access_token=x", "access_token=***"),
      ("accessToken=x", "accessToken=***"),
      ("user[password]=x&y=2", "user[password]=***&y=2"), ("user%5Btoken%5D=x", "user%5Btoken%5D=***"),
      (#"{"token": "a\"b", "c": 1}"#, #"{"token": "***", "c": 1}"#), (#"{"token":12}"#, #"{"token":"***"}"#),
      (#"{"token":{"a":[1,"}"]},"b":2}"#, #"{"token":"***","b":2}"#),
      (#"the body "{\"token\":\"a\\\"b\",\"c\":1}""#, #"the body "{\"token\":\"***\",\"c\":1}""#),
      ("Authorization: Bearer x\nA: b", "Authorization: ***\nA: b"), ("http://u:p@h/a@b", "http://***@h/a@b"),
      ("http://h/a@b", "http://h/a@b"), ("tokens=1 mytoken=2 token", "tokens=1 mytoken=2 token"),
      ("no token= here", "no token= here"), ("路径?token=密码&x=1", "路径?token=***&x=1"),
      (#"{"token":"never closed"#, #"{"token":"***"#), ("token=", "token="),
    ] { XCTAssertEqual(Redaction.standard.text(text), hidden) }
    XCTAssertEqual(Redaction.none.text("token=x"), "token=x")
    XCTAssertEqual(Redaction.standard.hiding("mytoken").text("my-token=2"), "my-token=***")
    XCTAssertEqual(Redaction(names: ["a"], placeholder: "-").text("a=1&token=2"), "a=-&token=2")
  }

  func test_row_2_19_aNameIsSecretIfOneOfItsWordsIs() {
    for name in [
      "X-Shopify-Access-Token", "X-Vault-Token", "X-Api-Token", "X-Session-Token", "X-Amz-Security-Token",
      "X-Goog-Api-Key",
      "DPoP", "dpop", "new_password", "password_confirmation", "apiToken", "secret_key", "access_key", "oauth_token",
      "X-Amz-Signature", "sig", "X-User-Token", "Ocp-Apim-Subscription-Key", "AWSAccessKeyId", "APIKey", "APIkey",
      "apikey",
      "accesskey", "sessionid", "JSESSIONID", "sessionID", "password2", "user.password", "user[token][]",
      "client_assertion",
      "code_verifier", "X-Hub-Signature-256", "Set-Cookie", "WWW-Authenticate", "Proxy-Authorization", "card_number",
      "creditCardNumber", "key", "X-Auth", "otp", "pinCode", "sort_key_secret", "密码_token", "signInToken",
    ] {
      XCTAssertTrue(Redaction.standard.hides(name), name)
    }
    for name in [
      "keyboard", "monkey", "design", "assign", "Author", "authors", "tokens", "max_tokens", "mytoken", "spinner",
      "pinned",
      "secretary", "sessions", "keys", "keyword", "Idempotency-Key", "idempotencyKey", "Sec-WebSocket-Key", "sort_key",
      "sortKey", "primaryKey", "PartitionKey", "public_key", "Surrogate-Key", "sign_in_count", "signUp", "token_type",
      "Accept", "Content-Type", "X-Request-ID", "ETag", "code", "", "-", "9",
    ] {
      XCTAssertFalse(Redaction.standard.hides(name), name)
    }
    XCTAssertFalse(Redaction(names: ["user"]).hides("user_token"), "names of one's own are whole, and alone")
    XCTAssertTrue(Redaction.none.hiding("user").hides("USER"))
    XCTAssertFalse(Redaction.none.hiding("user").hides("token"))
    XCTAssertTrue(Redaction(names: ["user"]).hiding(.standard).hides("my_token"))
  }

  func test_row_2_19_signaturesAreHiddenButDoNotIdentifyUsers() {
    for name in ["sign", "X-Signature", "X-Amz-Signature", "hmac", "DPoP"] {
      XCTAssertTrue(Redaction.standard.hides(name), name)
      XCTAssertFalse(Redaction.identities.hides(name), name)
    }
    for name in ["X-Token-Signature", "X-User-Token", "Cookie"] {
      XCTAssertTrue(Redaction.identities.hides(name), name)
    }
    let own = Redaction.standard.hiding("X-Signature", "X-Shop")
    XCTAssertTrue(own.identifiesByName("x_shop"))
    XCTAssertFalse(own.identifiesByName("X-Signature"))
  }

  func test_row_2_19_membersWithPunctuationInTheirNamesAreHidden() {
    for (text, hidden) in [
      (#"{"auth.token.value": "x", "b": 1}"#, #"{"auth.token.value": "***", "b": 1}"#),
      (#"{"my password" : "x"}"#, #"{"my password" : "***"}"#), (#"{"$token":"x"}"#, #"{"$token":"***"}"#),
      (#"{\"new.password\":\"x\",\"c\":1}"#, #"{\"new.password\":\"***\",\"c\":1}"#),
      (#"{"http://h/?token=x": 1}"#, #"{"http://h/?token=***": 1}"#), (#"["token","x"]"#, #"["token","x"]"#),
      (#"{"a":"token","b":"x"}"#, #"{"a":"token","b":"x"}"#),
      (#"{"a":"http://h/?token=x"}"#, #"{"a":"http://h/?token=***"}"#),
      ("{\"token\"\r\n:\"x\"}", "{\"token\"\r\n:\"***\"}"),
      (#"{"key":null,"sign":true,"pin":12}"#, #"{"key":null,"sign":true,"pin":"***"}"#),
      (#"{\"pin\":12,\"a\":1}"#, #"{\"pin\":\"***\",\"a\":1}"#),
      ("user[token][value]=x&b=1", "user[token][value]=***&b=1"), ("h/;jsessionid=x?a=1", "h/;jsessionid=***"),
      ("user[password%5D%5Ba%5D=x", "user[password%5D%5Ba%5D=***"), ("token.value=x", "token.value=***"),
      ("token[a b=x", "token[a b=x"), (#"say "token"#, #"say "token"#),
    ] { XCTAssertEqual(Redaction.standard.text(text), hidden) }
  }

  func test_row_2_19_descriptionsOfErrorsRequestsAndHeadersHideSecrets() throws {
    let url = try XCTUnwrap(URL(string: "http://u:p@h/a?token=x&q=1"))
    let request = Request(url: url, headers: ["Authorization": "x", "A": "b"])
    let error = NetworkError(kind: .connection, reason: "no stub for \(url)", request: request)
    XCTAssertEqual("\(error)", "NetworkError(connection, -1212): no stub for http://***@h/a?token=***&q=1")
    XCTAssertFalse("\((error as NSError).userInfo)".contains("token=x"))
    XCTAssertEqual("\(request)", "GET http://***@h/a?token=***&q=1")
    XCTAssertEqual("\(request.headers)", "Authorization: ***\nA: b")
    let bad = Request(url: try XCTUnwrap(URL(string: "http://h")), headers: ["Authorization": "secret\r\nX: y"])
    let refusal = try XCTUnwrap(RequestCheck.failure(of: bad, url: "http://h"))
    XCTAssertFalse(refusal.reason.contains("secret"))
  }

  func test_row_2_19_secretPartsOfAMultipartBodyAreHidden() throws {
    func part(_ head: String, _ value: String) -> String {
      "--b\r\nContent-Disposition: form-data; \(head)\r\n\r\n\(value)"
    }
    for (parts, hidden) in [
      (
        [part(#"name="password""#, "hunter2"), part(#"name="a""#, "b")],
        [part(#"name="password""#, "***"), part(#"name="a""#, "b")]
      ),
      (
        [part(#"filename="x"; name="user[token][]""#, "a\r\n\r\n--\r\n--c\r\nb")],
        [part(#"filename="x"; name="user[token][]""#, "***")]
      ),
      ([part("name=pin\r\nContent-Type: text/plain", "1")], [part("name=pin\r\nContent-Type: text/plain", "***")]),
      ([part(#"name="pin""#, "")], [part(#"name="pin""#, "")]),
      ([part(#"name="a"; filename="password""#, "b")], [part(#"name="a"; filename="password""#, "b")]),
      // A value that is never closed does not consume the name of the next part.
      (
        [part(#"name="a""#, #"{"token":"x"#), part(#"name="password""#, "hunter2")],
        [part(#"name="a""#, #"{"token":"***"password""# + "\r\n\r\n***")]
      ),
    ] {
      let end = "\r\n--b--\r\n"
      XCTAssertEqual(
        Redaction.standard.text(parts.joined(separator: "\r\n") + end), hidden.joined(separator: "\r\n") + end)
    }
    XCTAssertEqual(
      Redaction.standard.text("Content-Disposition: form-data; name=\"otp\"\n\n12\n--x\ny"),
      "Content-Disposition: form-data; name=\"otp\"\n\n***\n--x\ny")
    var request = Request(method: .post, url: try XCTUnwrap(URL(string: "http://h")))
    try MultipartForm(["password": "hunter2", "name": "n"]).encode(over: [:], into: &request)
    guard case .data(let body) = request.body else { return XCTFail("no body in memory") }
    let text = Redaction.standard.text(String(decoding: body, as: UTF8.self))
    XCTAssertFalse(text.contains("hunter2"), text)
    XCTAssertTrue(text.contains("name=\"name\"\r\n\r\nn\r\n--"), text)
    XCTAssertFalse(request.curlCommand().contains("hunter2"))
  }

  func test_row_2_19_secretsInFieldValuesAreHidden() {
    let headers: HTTPHeaders = [
      "Location": "https://app/cb?access_token=abc&x=1", "Referer": "https://u:p@h/", "Cookie": "a=b", "A": "b",
    ]
    let hidden = Redaction.standard.headers(headers)
    XCTAssertEqual(hidden["Location"], "https://app/cb?access_token=***&x=1")
    XCTAssertEqual(hidden["Referer"], "https://***@h/")
    XCTAssertEqual(hidden["Cookie"], "***")
    XCTAssertEqual(hidden["A"], "b")
    XCTAssertFalse("\(headers)".contains("abc"))
    XCTAssertEqual(Redaction.none.headers(headers), headers)
  }
}

import Foundation
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
    ] { XCTAssertEqual(Redaction.standard.redacted(text), hidden) }
    XCTAssertEqual(Redaction.none.redacted("token=x"), "token=x")
    XCTAssertEqual(Redaction.standard.hiding(["mytoken"]).redacted("my-token=2"), "my-token=***")
    XCTAssertEqual(Redaction(names: ["a"], placeholder: "-").redacted("a=1&token=2"), "a=-&token=2")
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
      "code_verifier", "X-Hub-Signature-256", "Set-Cookie", "X-Authenticate", "Proxy-Authorization", "card_number",
      "creditCardNumber", "key", "X-Auth", "otp", "pinCode", "Authentication",
      "X-Amzn-Oidc-Data", "X-Csrf", "X-Ticket", "X-Pass", "X-Creds", "access", "refresh", "csrfmiddlewaretoken",
      "device_code",
      "sort_key_secret", "密码_token", "signInToken",
    ] {
      XCTAssertTrue(Redaction.standard.hides(name), name)
    }
    for name in [
      "keyboard", "monkey", "design", "assign", "Author", "authors", "tokens", "max_tokens", "mytoken", "spinner",
      "pinned",
      "secretary", "sessions", "keys", "keyword", "Idempotency-Key", "idempotencyKey", "Sec-WebSocket-Key", "sort_key",
      "access_level", "last_access", "refresh_interval", "pass_count", "ticket", "X-Amzn-Trace-Id",
      "user_code", "device_code_id",
      "sortKey", "primaryKey", "PartitionKey", "public_key", "Surrogate-Key", "sign_in_count", "signUp", "token_type",
      "WWW-Authenticate", "proxy-authenticate", "Accept", "Content-Type", "X-Request-ID", "ETag", "code", "", "-", "9",
    ] {
      XCTAssertFalse(Redaction.standard.hides(name), name)
    }
    XCTAssertFalse(Redaction(names: ["user"]).hides("user_token"), "names of one's own are whole, and alone")
    XCTAssertTrue(Redaction.none.hiding(["user"]).hides("USER"))
    XCTAssertEqual(Redaction.none.hiding(["user"]).redacted("user=x&token=y"), "user=***&token=y")
    XCTAssertFalse(Redaction.none.hiding(["user"]).hides("token"))
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
    let own = Redaction.standard.hiding(["X-Signature", "X-Shop"])
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
    ] { XCTAssertEqual(Redaction.standard.redacted(text), hidden) }
  }

  func test_row_2_19_theWholeValueInAURLIsHidden() throws {
    for value in ["a,x", "a;x", "a)x", "a'x"] {
      let url = try XCTUnwrap(URL(string: "https://h/p?filter[password]=\(value)&b=c"))
      XCTAssertTrue(Redaction.standard.redacted(url).hasSuffix("=***&b=c"), Redaction.standard.redacted(url))
    }
  }

  func test_row_2_19_encodedQuotedAndSpacedValuesAreHidden() {
    for (text, hidden) in [
      // Encoded names and delimiters. An encoded delimiter is part of the value, unless the `=` is encoded, too.
      ("redirect_uri=https%3A//h/cb?token%3Dx%26a%3Db&c=d", "redirect_uri=https%3A//h/cb?token%3D***%26a%3Db&c=d"),
      ("?next=%2Fcb%3Ftoken%3Dx", "?next=%2Fcb%3Ftoken%3D***"),
      ("?u=%252Fcb%253Ftoken%253Dx", "?u=%252Fcb%253Ftoken%253D***"),
      ("password=a%26b%3Dc&d=e", "password=***&d=e"), ("pass%77ord=x", "pass%77ord=***"),
      ("user%5Bpin%5D%3D1%26b%3D2", "user%5Bpin%5D%3D***%26b%3D2"), ("100%token=x", "100%token=***"),
      ("https%3A%2F%2Fu%3Ap%40h%2Fa", "https%3A%2F%2F***%40h%2Fa"), ("http://u:p%2Fq@h/", "http://***@h/"),
      ("?json=%7B%22token%22%3A%22x%22%2C%22a%22%3A1%7D&b=2", "?json=%7B%22token%22%3A%22***%22%2C%22a%22%3A1%7D&b=2"),
      (#"{"token":"a%22b","c":1}"#, #"{"token":"***","c":1}"#),
      (#"{"token":["%22"],"c":1}"#, #"{"token":"***","c":1}"#),
      // Escapes of JSON, and references without a scheme.
      (#"{"u":"https:\/\/user:x@host\/"}"#, #"{"u":"https:\/\/***@host\/"}"#),
      (#""http://h/cb?token\u003dx&a=b""#, #""http://h/cb?token\u003d***&a=b""#),
      (#"{"\u0070assword":"x"}"#, #"{"\u0070assword":"***"}"#),
      (#"{"a":"\u0022","b":"\\/"}"#, #"{"a":"\u0022","b":"\\/"}"#),
      ("Location: //user:x@host/", "Location: //***@host/"), ("http:/u:x@h/a", "http:/***@h/a"),
      ("// a comment of me@home", "// a comment of me@home"),
      // Quotes and blanks.
      (#"password="x y" a="b""#, #"password="***" a="b""#), ("password='it''s' a", "password='***''s' a"),
      (#"the body "password=\"x\" a""#, #"the body "password=\"***\" a""#), (#"password="x"#, #"password="***"#),
      ("password = x y", "password = *** y"), ("password\t:\tx y", "password\t:\t***"),
      ("Authorization:Bearer x\nA:b", "Authorization:***\nA:b"), ("-H 'X-Token:a b'", "-H 'X-Token:***"),
      ("{'password': 'x', 'a': 1}", "{'password': '***', 'a': 1}"), ("{'pin': 1, 'a': 1}", "{'pin': \"***\", 'a': 1}"),
      (#"{"token"=>"x", "a"=>"b"}"#, #"{"token"=>"***", "a"=>"b"}"#), ("{pin:1,a:2}", "{pin:***,a:2}"),
      (#"{password:"x y",a:2}"#, #"{password:"***",a:2}"#),
      // A quote after `=` may end the text that surrounds it.
      (#"{"a":"/?token=","password":"x"}"#, #"{"a":"/?token=","password":"***"}"#),
      ("'/?token=' 'x'", "'/?token=' 'x'"), (#"password="""#, #"password="""#),
      // A field in a string ends with the string, so that a recording remains valid JSON.
      (#"{"a":"the key: \"x\" y","b":1}"#, #"{"a":"the key: ***","b":1}"#),
      (#"{"a":"key:x","b":1}"#, #"{"a":"key:***","b":1}"#),
      ("Authorization: Digest a=\"x\", b=\"y\"", "Authorization: ***"),
      // XML.
      ("<a><password>x</password><b>c</b></a>", "<a><password>***</password><b>c</b></a>"),
      ("<s:Token type='y' a=\"b\">x</s:Token>", "<s:Token>***</s:Token>"),
      ("<auth><a>1</a><b/><c>2</c></auth><d>3</d>", "<auth>***</auth><d>3</d>"),
      ("<pin><![CDATA[1]]></pin>", "<pin>***</pin>"), ("<pin/><a>1</a>", "<pin/><a>1</a>"),
      ("press <key> to continue", "press <key> to continue"), ("<password></password>", "<password></password>"),
      // Hosts, ports, schemes and apostrophes are not names.
      ("GET http://auth:8080/a (3 ms)", "GET http://auth:8080/a (3 ms)"),
      ("auth:8080 is closed", "auth:8080 is closed"),
      ("app://token=x", "app://token=***"), ("auth://h/a", "auth://h/a"),
      ("the server's key isn't: x", "the server's key isn't: x"),
    ] { XCTAssertEqual(Redaction.standard.redacted(text), hidden) }
  }

  func test_row_2_19_theMembersOfTokenAreHidden() throws {
    let token = try JSONEncoder().encode(Token(access: "secret-a", refresh: "secret-r"))
    for text in [String(decoding: token, as: UTF8.self), "grant_type=refresh&refresh=secret-r"] {
      XCTAssertFalse(Redaction.standard.redacted(text).contains("secret-"), text)
    }
  }

  func test_row_2_19_tokensAndConfigurationsAreDescribedAndDumpedWithoutSecrets() throws {
    var values: [Any] = [
      Token(access: "secret", refresh: "secret"), MemoryTokenStore(Token(access: "secret", refresh: "secret")),
    ]
    let identity = TLSOptions.Identity.pkcs12(Data("secret".utf8), password: "secret")
    XCTAssertEqual("\(identity)", "Identity(6 bytes of PKCS#12, ***)")
    values += [identity, TLSOptions(identity: identity)]
    #if canImport(CLibcurl)
      let file = URL(filePath: "/key.pem")
      for text in ["http://u:secret@h:1", "u:secret@h:1"] {
        let proxy = ProxyOptions.url(try XCTUnwrap(URL(string: text)))
        let identity = TLSOptions.Identity(certificate: file, key: file, password: "secret")
        values += [
          proxy, identity, CurlTransport.Configuration(tls: .init(identity: identity), proxy: proxy),
          proxy.failure?.reason ?? "",
        ]
      }
      XCTAssertEqual("\(values[4])", "url(http://***@h:1, except: [])")
      XCTAssertEqual("\(values[5])", "Identity(/key.pem, /key.pem, ***)")
    #endif
    for value in values {
      var text = "\(value)" + String(reflecting: value)
      dump(value, to: &text)
      XCTAssertFalse(text.contains("secret"), text)
    }
  }

  func test_row_2_19_hidingTakesLinearTime() {
    // Each of these texts would take minutes in quadratic time.
    for part in [
      "<key>", "<key></a ", "\"token", "token ", "token[", "token%3D", "%25", "://", "'token':", "token=\"", "auth:",
    ] {
      let text = String(repeating: part, count: 20_000)
      XCTAssertFalse(Redaction.standard.redacted(text).isEmpty)
    }
    // Each mark is encoded once more than the one before, so none of them ends the name of the others.
    let marks = (0..<1_000).map { count in
      let slash = count == 0 ? "/" : "%" + String(repeating: "25", count: count - 1) + "2F"
      return slash + slash
    }
    let text = marks.joined() + String(repeating: "a", count: 2_000_000) + " token=x"
    XCTAssertEqual(Redaction.standard.redacted(text), "//*** token=***")
  }

  func test_row_2_19_secretsWhoseEndWasCutAreHidden() {
    for (text, hidden) in [
      ("<a><password>s3c", "<a><password>***"), ("http://ada:s3c", "http://***"),
      ("http://h/a?token=s3c", "http://h/a?token=***"),
      (#"{"token":"s3c"#, #"{"token":"***"#), ("<a>b</a", "<a>b</a"), ("see http://h/a and b", "see http://h/a and b"),
    ] {
      XCTAssertEqual(String(decoding: Redaction.standard.bytes(text.utf8, isCut: true), as: UTF8.self), hidden)
      let limit = text.utf8.count
      XCTAssertEqual(Redaction.standard.start(of: text + "r3t</password>", limit: limit), hidden)
      let bytes = Data((text + "r3t").utf8)
      XCTAssertEqual(Redaction.standard.binaryMessage(bytes, limit: limit), Data(hidden.utf8))
    }
    XCTAssertEqual(Redaction.standard.start(of: "aé", limit: 2), "a", "a scalar is not cut")
    XCTAssertEqual(Redaction.standard.binaryMessage(Data("aé".utf8), limit: 2), Data("a".utf8))
    XCTAssertNil(Redaction.standard.binaryMessage(Data("aé".utf8).dropLast()), "a whole message is UTF-8 or none")
  }

  func test_row_2_19_anAuthorityBeyondTheLimitIsHiddenAsAWhole() {
    let user = String(repeating: "u", count: 5_000)
    for (text, hidden) in [
      ("http://\(user.prefix(4_000)):p@h/a", "http://***@h/a"),
      ("http://\(user.prefix(4_096))/a@b", "http://\(user.prefix(4_096))/a@b"),
      ("http://a:\(user)@h/a?token=x", "http://***/a?token=***"), ("http://\(user)/a", "http://***/a"),
    ] { XCTAssertEqual(Redaction.standard.redacted(text), hidden) }
  }

  func test_row_2_19_descriptionsOfErrorsRequestsAndHeadersHideSecrets() throws {
    let url = try XCTUnwrap(URL(string: "http://u:p@h/a?token=x&q=1"))
    let request = Request(url: url, headers: ["Authorization": "x", "A": "b"])
    let error = NetworkError(kind: .connection, reason: "no stub for \(url)", request: request)
    XCTAssertEqual("\(error)", "NetworkError(connection, -1212): no stub for http://***@h/a?token=***&q=1")
    #if HAS_URLSESSION
      XCTAssertFalse("\((error as NSError).userInfo)".contains("token=x"))
    #endif
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
      ([part(#"name="user password""#, "hunter2")], [part(#"name="user password""#, "***")]),
      ([part(#"name="a"; filename="password""#, "b")], [part(#"name="a"; filename="password""#, "b")]),
      // A value that is never closed does not consume the name of the next part.
      (
        [part(#"name="a""#, #"{"token":"x"#), part(#"name="password""#, "hunter2")],
        [part(#"name="a""#, #"{"token":"***"password""# + "\r\n\r\n***")]
      ),
    ] {
      let end = "\r\n--b--\r\n"
      XCTAssertEqual(
        Redaction.standard.redacted(parts.joined(separator: "\r\n") + end), hidden.joined(separator: "\r\n") + end)
    }
    XCTAssertEqual(
      Redaction.standard.redacted("Content-Disposition: form-data; name=\"otp\"\n\n12\n--x\ny"),
      "Content-Disposition: form-data; name=\"otp\"\n\n***\n--x\ny")
    var request = Request(method: .post, url: try XCTUnwrap(URL(string: "http://h")))
    try MultipartForm(["password": "hunter2", "name": "n"]).encode(over: [:], into: &request)
    guard case .data(let body) = request.body else { return XCTFail("no body in memory") }
    let text = Redaction.standard.redacted(String(decoding: body, as: UTF8.self))
    XCTAssertFalse(text.contains("hunter2"), text)
    XCTAssertTrue(text.contains("name=\"name\"\r\n\r\nn\r\n--"), text)
    XCTAssertFalse(request.curlCommand().contains("hunter2"))
  }

  func test_row_2_19_textsThatEndWithinAMemberAreRead() {
    for text in ["'password'=", "\"password\":", "\"password\" =", "'password'=>"] {
      XCTAssertEqual(Redaction.standard.redacted(text), text + "\"***\"")
    }
    for text in ["'password'", "password", "password:", "password="] {
      XCTAssertEqual(Redaction.standard.redacted(text), text)
    }
  }

  func test_row_2_19_secretsInFieldValuesAreHidden() {
    let headers: HTTPHeaders = [
      "Location": "https://app/cb?access_token=abc&x=1", "Referer": "https://u:p@h/", "Cookie": "a=b", "A": "b",
    ]
    let hidden = Redaction.standard.redacted(headers)
    XCTAssertEqual(hidden["Location"], "https://app/cb?access_token=***&x=1")
    XCTAssertEqual(hidden["Referer"], "https://***@h/")
    XCTAssertEqual(hidden["Cookie"], "***")
    XCTAssertEqual(hidden["A"], "b")
    XCTAssertFalse("\(headers)".contains("abc"))
    XCTAssertEqual(Redaction.none.redacted(headers), headers)
  }
}

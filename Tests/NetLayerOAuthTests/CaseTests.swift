import Foundation
import NetLayerTesting
import TestSupport
import XCTest

@testable import NetLayerOAuth

/// The rows of `cases.txt`. Each test names the rules of `RuleTests` that its rows check.
final class CaseTests: XCTestCase {
  private struct Row {
    let name: String
    let input: String
    let right: String
    let line: Int
  }

  private func rows(_ area: String) throws -> [Row] {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "cases.txt")
    let lines = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
    let rows = lines.enumerated().compactMap { index, line -> Row? in
      let cells = line.components(separatedBy: " | ")
      guard cells.first == area, cells.count == 4 else { return nil }
      return Row(name: cells[1], input: cells[2], right: cells[3], line: index + 1)
    }
    XCTAssertGreaterThan(rows.count, 5, "the table has no rows of \(area)")
    return rows
  }

  private func check(_ row: Row, _ found: String) {
    XCTAssertEqual(found, row.right, "cases.txt:\(row.line): \(row.name)")
  }

  func test_everyRowIsOfAnAreaThatIsTested() throws {
    let areas = [
      "refresh", "callback", "idtoken", "device", "discovery", "encode", "wellknown", "secure", "loopback", "redirect",
    ]
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "cases.txt")
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").filter { !$0.hasPrefix("#") }
    XCTAssertGreaterThanOrEqual(lines.count, 150)
    for line in lines {
      XCTAssert(
        areas.contains { line.hasPrefix("\($0) | ") } && line.components(separatedBy: " | ").count == 4, "\(line)")
    }
    XCTAssertEqual(Set(lines).count, lines.count, "a row occurs twice")
  }

  func test_rules07to14_refresh() async throws {
    for row in try rows("refresh") {
      let input = row.input.replacingOccurrences(of: "; charset", with: ";charset")
      let parts = input.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
      let body = parts[2].replacingOccurrences(of: "BOM ", with: "\u{FEFF}")
      let type: HTTPHeaders = parts[1] == "-" ? [:] : ["Content-Type": parts[1]]
      let status = try XCTUnwrap(Int(parts[0]))
      let world = World(.response(status: status, headers: type, body: Data(body.utf8)))
      do {
        let token = try await world.client().refresh(Token(access: "a0", refresh: "r0"))
        let lifetime = token.expiresAt.map { String(Int($0.timeIntervalSince(JumpingClock.start))) } ?? "-"
        check(row, "ok \(token.access) \(token.refresh ?? "nil") \(lifetime)")
      } catch {
        check(row, "error \(error.kind) \(error.oauthCode ?? "-") \(error.endsSession)")
      }
      XCTAssertEqual(world.forms, [["grant_type": "refresh_token", "refresh_token": "r0", "client_id": "cli"]])
    }
  }

  func test_rules16and17_callback() async throws {
    for row in try rows("callback") {
      let words = row.name.components(separatedBy: ", ").map { $0.components(separatedBy: " ") }
      let issuer = words[1][1]
      var server = World.server
      server.issuer = issuer == "-" ? nil : issuer
      server.sendsIssuer = words.count == 3
      let world = World(good)
      do {
        _ = try await world.client(server).authorize(redirectingTo: words[0][1]) { page in
          url(row.input.replacingOccurrences(of: "STATE", with: page.pairs["state"] ?? ""))
        }
        check(row, "ok")
        XCTAssertEqual(world.forms.first?["code"], "c")
        XCTAssertEqual(world.forms.first?["redirect_uri"], words[0][1])
      } catch {
        check(row, "\(error.kind) \(error.oauthCode ?? "-")")
        XCTAssert(world.requests.isEmpty, "cases.txt:\(row.line): a refused redirect led to a token request")
        XCTAssertFalse("\(error)".contains("code=c"), "\(error)")
      }
    }
  }

  func test_rule24_idToken() async throws {
    for row in try rows("idtoken") {
      let issuer = row.name.components(separatedBy: "issuer ")[1]
      var server = World.server
      server.issuer = issuer == "-" ? nil : issuer
      let nonce = Notes()
      let soon = Int(JumpingClock.start.timeIntervalSince1970) + 300
      let claims = row.input.replacingOccurrences(of: "soon-600", with: "\(soon - 600)")
        .replacingOccurrences(of: "soon-1000", with: "\(soon - 1000)").replacingOccurrences(of: "soon", with: "\(soon)")
      let world = World { _ in
        let claims = claims.replacingOccurrences(of: "NONCE", with: nonce.all.first ?? "")
        return .json(#"{"access_token":"a","id_token":"\#(idToken(claims))"}"#)
      }
      do {
        let grant = try await world.client(server, scope: "mail openid").authorize(redirectingTo: "app:/cb") { page in
          nonce.add(page.pairs["nonce"] ?? "")
          return url("app:/cb?code=c&state=\(page.pairs["state"] ?? "")")
        }
        check(row, grant.token.account ?? "nobody")
        XCTAssertEqual(grant.claims["sub"].string, grant.token.account)
      } catch {
        XCTAssertEqual(error.kind, .rejected)
        let problem = error.reason.replacingOccurrences(of: "the ID token is invalid: ", with: "")
        check(row, problem.contains(row.right) ? row.right : problem)
      }
    }
  }

  func test_rule21_device() async throws {
    for row in try rows("device") {
      let parts = row.input.components(separatedBy: "; ")
      let replies = parts[1].components(separatedBy: ", ").map(Self.reply)
      let polls = Box(replies)
      let clock = JumpingClock()
      var members = [
        "device_code": #""d""#, "user_code": #""U-1""#, "verification_uri": #""https://as/d""#, "expires_in": "900",
      ]
      for own in parts[0].components(separatedBy: ",") where own.hasPrefix("\"") {
        let pair = own.components(separatedBy: "\":")
        members[String(pair[0].dropFirst())] = pair[1]
      }
      let first = "{\(members.map { "\"\($0)\":\($1)" }.joined(separator: ","))}"
      let world = World(clock: clock) { request in
        request.url.path == "/device" ? .json(first) : polls.update { $0.isEmpty ? nil : $0.removeFirst() }
      }
      var found: String
      do {
        found = try await world.client().authorizeDevice { XCTAssertEqual($0.code, "U-1") }.token.access
      } catch {
        found = "\(error.kind) \(error.oauthCode ?? "-")"
      }
      let waits = clock.waits.map { String(Int($0)) }.joined(separator: ", ")
      found += " [\(waits)]"
      check(row, found)
      let polled = world.forms.dropFirst()
      XCTAssert(polled.allSatisfy { $0["device_code"] == "d" && $0["client_id"] == "cli" }, row.name)
    }
  }

  private static func reply(_ word: String) -> StubTransport.StubbedResponse {
    switch word {
    case "good": return good
    case "pending": return .json(#"{"error":"authorization_pending"}"#, status: 400)
    case "pending503": return .json(#"{"error":"authorization_pending"}"#, status: 503)
    case "slow": return .json(#"{"error":"slow_down"}"#, status: 400)
    case "slow200": return .json(#"{"error":"slow_down","interval":17}"#)
    case "slow429": return .json(#"{"error":"slow_down"}"#, status: 429)
    case "503": return .response(status: 503)
    case "404": return .response(status: 404)
    case "lost": return .failure(.connection)
    case "html": return .response(headers: ["Content-Type": "text/html"], body: Data("<p>".utf8))
    default:
      let interval = word.components(separatedBy: "slow:").last ?? ""
      return word.hasPrefix("{")
        ? .json(word, status: 400) : .json(#"{"error":"slow_down","interval":\#(interval)}"#, status: 400)
    }
  }

  func test_rule22_discovery() async throws {
    let issuer = "http://127.0.0.1"
    for row in try rows("discovery") {
      let places = row.input.replacingOccurrences(of: "ISSUER", with: issuer).components(separatedBy: " ;; ")
      let world = World { request in
        let index = request.url.path.contains("openid") ? 1 : 0
        guard index < places.count else { return .response(status: 404) }
        if let status = Int(places[index]) { return .response(status: status, headers: ["Location": "/x"]) }
        return .response(headers: ["Content-Type": "text/html"], body: Data(places[index].utf8))
      }
      do {
        let server = try await OAuthServer.discovered(at: issuer, on: world.network)
        check(row, "ok")
        XCTAssertEqual(server.token.absoluteString, "http://127.0.0.1/token")
      } catch {
        check(row, "\(error.kind)")
      }
    }
  }

  func test_rules03and06_encode() async throws {
    for row in try rows("encode") {
      let world = World(good)
      if row.name.hasPrefix("Basic") {
        let parts = row.input.components(separatedBy: ", ")
        let secret: OAuthClient.Authentication = row.name == "Basic" ? .secret(parts[1]) : .secretUnescaped(parts[1])
        _ = try await world.client(id: parts[0], authentication: secret).clientCredentials()
        let field = try XCTUnwrap(
          world.requests.first?.headers["Authorization"]?.components(separatedBy: "Basic ").last)
        check(row, String(decoding: try XCTUnwrap(Data(base64Encoded: field)), as: UTF8.self))
        continue
      }
      var server = World.server
      if row.name == "endpoint" { server.authorization = url(row.input) }
      let client = world.client(
        server, scope: row.name == "scope" ? row.input : nil,
        parameters: row.name == "audience" ? ["audience": row.input] : [:])
      let pages = Notes()
      _ = try? await client.authorize(redirectingTo: "app:/cb") { page in
        pages.add(page.absoluteString)
        return page
      }
      let page = try XCTUnwrap(pages.all.first)
      let first = row.name == "audience" ? "" : "client_id=cli"
      let isRight = row.name == "endpoint" ? page.hasPrefix(row.right + first) : page.contains(row.right)
      XCTAssert(isRight, "cases.txt:\(row.line): \(page)")
    }
  }

  func test_rule22_wellKnown() throws {
    for row in try rows("wellknown") {
      let issuer = row.name == "EMPTY" ? "" : row.name
      do {
        check(row, try OAuthServer.documents(of: issuer).map(\.absoluteString).joined(separator: " "))
      } catch {
        check(row, "rejected")
        XCTAssertEqual(error.kind, .invalidRequest)
      }
    }
  }

  func test_rule01_secure() async throws {
    for row in try rows("secure") {
      let world = World(good)
      do {
        _ = try await world.client(OAuthServer(token: url(row.input))).clientCredentials()
        check(row, "sent")
      } catch {
        check(row, "\(error.kind)")
      }
      XCTAssertEqual(world.requests.isEmpty, row.right != "sent")
    }
  }

  func test_rule18_loopback() throws {
    let redirect = "http://127.0.0.1:8400/callback"
    for row in try rows("loopback") {
      let login = try Login(World(good).client(), at: World.server, redirect: redirect)
      let text = row.input.replacingOccurrences(of: "PORT", with: "8400")
        .replacingOccurrences(of: "STATE", with: login.url.pairs["state"] ?? "")
        .replacingOccurrences(of: #"\r"#, with: "\r").replacingOccurrences(of: #"\n"#, with: "\n")
      let outcome = LoopbackAddress.url(ofRequest: Array(text.utf8)).map(login.outcome)
      check(row, "\(outcome?.status ?? 400)")
    }
  }

  func test_rule18_redirect() throws {
    for row in try rows("redirect") {
      do {
        let address = try LoopbackAddress(row.input.replacingOccurrences(of: #"\r\n"#, with: "\r\n"))
        check(row, address.uri(port: address.port ?? 9))
      } catch {
        check(row, "rejected")
        XCTAssertEqual(error.kind, .invalidRequest)
      }
    }
  }
}

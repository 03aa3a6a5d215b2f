import Foundation
import LoopbackServer
import Synchronization

// An authorization server and an API that accept everybody, for the check of the samples. They are not an example.
let port = Mutex<UInt16>(0)
let server = try TestServer { request in
  let issuer = "http://127.0.0.1:\(port.withLock { $0 })"
  switch request.path {
  case "/.well-known/oauth-authorization-server":
    let names = ["token", "authorization", "device_authorization", "revocation"]
    let endpoints = names.map { #""\#($0)_endpoint":"\#(issuer)/\#($0)""# }.joined(separator: ",")
    return .json(#"{"issuer":"\#(issuer)",\#(endpoints)}"#)
  case "/authorization":
    let redirect = request.query("redirect_uri") ?? ""
    return .redirect(to: "\(redirect)?code=c&state=\(request.query("state") ?? "")&iss=\(issuer)")
  case "/device_authorization":
    return .json(
      #"{"device_code":"d","user_code":"WDJB-MJHT","verification_uri":"\#(issuer)/device","expires_in":60,"interval":1}"#
    )
  case "/token":
    let isKnown = request.text.contains("client_id=shop-cli") || request.header("Authorization") != nil
    return isKnown
      ? .json(#"{"access_token":"a1","refresh_token":"r1","expires_in":3600}"#)
      : .json(#"{"error":"invalid_client","error_description":"unknown client"}"#, status: 401)
  case "/revocation": return .status(200)
  default: return .text("tea", status: request.header("Authorization") == "Bearer a1" ? 200 : 401)
  }
}
port.withLock { $0 = server.port }
FileHandle.standardOutput.write(Data("http://127.0.0.1:\(server.port)\n".utf8))
while readLine() != nil {}

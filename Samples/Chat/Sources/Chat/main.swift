// A terminal chat over a WebSocket that reconnects: swift run Chat [wss://…]
import Foundation
import NetLayer
import Streams

// Without a URL, the room is a small server in this process.
let room = try Room()
let url = CommandLine.arguments.dropFirst().first ?? room.url
let chat = Network()

let session = chat.webSocket(.get(url), reconnect: RetryPolicy(attempts: 20, maxDelay: .seconds(10))) { socket in
  // Called for each connection, so that the user joins the room again after a reconnect.
  socket.sending("/join \(NSUserName())")
}
let bag = DisposeBag()

session.events
  .subscribe(onNext: { event in
    if let response = event.response { print("* connected to \(response.url.host() ?? "")") }
    if let error = event.error, let delay = event.delay { print("* \(error.message) Next try in \(delay).") }
  })
  .disposed(by: bag)

session.messages
  .subscribe(
    onNext: { print("< \($0.text ?? "\($0.byteCount) bytes")") },
    onError: { error in
      print("* \(error.localizedDescription)")
      exit(1)
    },
    onCompleted: {
      print("* the room is closed")
      exit(0)
    }
  )
  .disposed(by: bag)

while let line = readLine() {
  do {
    // Returns after the line was sent. Waits while the session reconnects.
    try await session.send(line)
  } catch {
    print("* not sent: \(error.localizedDescription)")
  }
}
// Waits a moment for the replies to the last line.
try await Task.sleep(for: .seconds(1))

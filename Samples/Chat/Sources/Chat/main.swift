// A chat in the terminal, over a WebSocket that reconnects: swift run Chat [wss://…]
import Foundation
import NetLayer
import Streams

// Without a URL, the room is a small server in this process.
let room = try Room()
let url = CommandLine.arguments.dropFirst().first ?? room.url
let chat = Network()

let session = chat.socket(.get(url), reconnect: RetryPolicy(attempts: 20, maximumDelay: .seconds(10))) { socket in
  // Called for each connection, so that the room knows us again after a loss.
  socket.send("/join \(NSUserName())")
}
let bag = DisposeBag()

session.events
  .subscribe(onNext: { event in
    switch event {
    case .opened(let response): print("* connected to \(response.url.host() ?? "")")
    case .reconnecting(let pause, let error): print("* \(error.message) Next try in \(pause).")
    }
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
    // Returns when the line has been sent; while the session reconnects, it waits.
    try await session.send(line).value
  } catch {
    print("* not sent: \(error.localizedDescription)")
  }
}
// Behind the last line, a moment for the replies.
try await Task.sleep(for: .seconds(1))

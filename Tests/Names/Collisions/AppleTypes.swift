import Network

/// The type of Apple's module, in a file without NetLayer. `Network.WebSocket` would name a member of the type `Network`.
typealias AppleWebSocket = WebSocket

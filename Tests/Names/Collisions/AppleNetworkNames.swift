import NetLayer
import Network

private func types(_ network: Network, _ socket: NetLayer.WebSocket) -> [Any] {
  let monitor: NWPathMonitor = NWPathMonitor()
  let apples: AppleWebSocket = AppleWebSocket()
  return [network, socket, monitor, apples]
}

import Moya
import NetLayer

private struct Feed: NetLayer.Endpoint {
  var path: String { "/feed" }
}

private func types(_ response: NetLayer.Response) -> [Any] { [Feed(), response, Moya.Endpoint(), Moya.Response()] }

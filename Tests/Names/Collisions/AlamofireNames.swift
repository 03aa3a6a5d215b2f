import Alamofire
import NetLayer

private protocol Both: NetLayer.Interceptor, NetLayer.ParameterEncoder, NetLayer.URLConvertible {}
private protocol Others: Alamofire.ParameterEncoder, Alamofire.URLConvertible {}

private func types(_ request: NetLayer.Request) -> [Any] {
  let (headers, method): (NetLayer.HTTPHeaders, NetLayer.HTTPMethod) = (["Accept": "text/plain"], .get)
  let parameters: NetLayer.Parameters = ["page": 1]
  let login: NetLayer.AuthenticationInterceptor? = nil
  let (policy, encoder) = (NetLayer.RetryPolicy(), NetLayer.JSONParameterEncoder())
  return [request, headers, method, parameters, login as Any, policy, encoder]
}

private func others() -> [Any] {
  let parameters: Alamofire.Parameters = ["page": 1]
  return [
    Alamofire.Request(), Alamofire.Interceptor(), Alamofire.RetryPolicy(),
    Alamofire.AuthenticationInterceptor<Int>(), Alamofire.JSONParameterEncoder(), Alamofire.HTTPHeaders(),
    Alamofire.HTTPMethod.get, parameters,
  ]
}

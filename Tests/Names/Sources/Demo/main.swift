import Cache
import NetLayer
import Request

let cache = Cache()
let requests = UserRequests(Network(Backend(interceptors: [cache.interceptor])))
print("\(type(of: requests))")

import NetLayer

/// The model of the response.
struct City: Decodable, Sendable, Equatable {
  var name: String
  var degrees: Double
}

/// The endpoint.
struct Weather: Endpoint {
  let city: String
  var path: String { "/weather" }
  var task: HTTPTask { .parameters(["city": city]) }
}

/// A client for the endpoint. The network is a parameter, so that a test can replace it.
struct WeatherClient: Sendable {
  let network: Network

  func weather(in city: String) -> Single<City> {
    network.request(Weather(city: city), as: City.self)
  }
}

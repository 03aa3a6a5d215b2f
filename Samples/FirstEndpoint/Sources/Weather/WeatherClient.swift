import NetLayer

/// What the server answers.
struct City: Decodable, Sendable, Equatable {
  var name: String
  var degrees: Double
}

/// What is called.
struct Weather: Endpoint {
  let city: String
  var path: String { "/weather" }
  var task: HTTPTask { .parameters(["city": city]) }
}

/// Calls it. The network is a parameter, so that a test can give it another one.
struct WeatherClient: Sendable {
  let network: Network

  func weather(in city: String) -> Single<City> {
    network.request(Weather(city: city), as: City.self)
  }
}

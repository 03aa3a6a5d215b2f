import NetLayer
import Streams

/// What the server answers.
public struct City: Decodable, Sendable, Equatable {
  public var name: String
  public var degrees: Double

  public init(name: String, degrees: Double) {
    self.name = name
    self.degrees = degrees
  }
}

/// What is called.
public struct Weather: Endpoint {
  public let city: String
  public var path: String { "/weather" }
  public var task: HTTPTask { .parameters(["city": city]) }
}

/// Calls it. The network is a parameter, so that a test can give it another one.
public struct WeatherClient: Sendable {
  private let network: Network

  public init(network: Network) { self.network = network }

  public func weather(in city: String) -> Single<City> {
    network.request(Weather(city: city), as: City.self)
  }
}

import Foundation

/// The shape of `twitter.json`: nested records with many optional members, and texts in several scripts.
struct Timeline: Codable, Sendable {
  struct Status: Codable, Sendable {
    struct Metadata: Codable, Sendable {
      var resultType: String
      var language: String
    }
    struct Account: Codable, Sendable {
      var id: Int
      var screenName: String
      var description: String
      var url: String?
      var followers: Int
      var isVerified: Bool
      var timeZone: String?
      var image: String
    }
    struct Entities: Codable, Sendable {
      struct Mention: Codable, Sendable {
        var name: String
        var id: Int
        var indices: [Int]
      }
      var hashtags: [String]
      var mentions: [Mention]
    }
    var metadata: Metadata
    var createdAt: String
    var id: Int
    var text: String
    var source: String
    var inReplyTo: Int?
    var place: String?
    var user: Account
    var entities: Entities
    var retweets: Int
    var isFavorite: Bool
  }

  var statuses: [Status]

  static func make(_ count: Int) -> Timeline {
    Timeline(
      statuses: (0..<count).map { id in
        Status(
          metadata: .init(resultType: "recent", language: id % 3 == 0 ? "ja" : "en"),
          createdAt: "Sun Aug 31 00:29:\(10 + id % 50) +0000 2014", id: 505_874_924_095_815_681 + id,
          text: "@aym0566x \n\n名前:前田あゆみ\n第一印象:なんか怖っ! “\(id)” https://t.co/abc\\",
          source: "<a href=\"https://example.com/\" rel=\"nofollow\">client</a>", inReplyTo: id % 2 == 0 ? id : nil,
          place: nil,
          user: .init(
            id: 1_186_275_104 + id, screenName: "ayuu0123", description: "元野球部マネージャー❤︎…最高の夏をありがとう…❤︎",
            url: id % 4 == 0 ? "https://t.co/x" : nil, followers: 262 + id, isVerified: false, timeZone: nil,
            image: "https://pbs.example.com/profile_images/49776/normal.jpeg"),
          entities: .init(
            hashtags: id % 5 == 0 ? ["swift"] : [],
            mentions: [.init(name: "前田あゆみ", id: 866_260_188, indices: [0, 9])]), retweets: id % 7, isFavorite: false)
      })
  }
}

/// The shape of `citm_catalog.json`: dictionaries with numeric keys, arrays of small integers, many nulls.
struct Catalog: Codable, Sendable {
  struct Event: Codable, Sendable {
    var id: Int
    var name: String
    var logo: String?
    var description: String?
    var subTopicIds: [Int]
    var topicIds: [Int]
  }
  struct Performance: Codable, Sendable {
    struct Price: Codable, Sendable {
      var amount: Int
      var audienceSubCategoryId: Int
      var seatCategoryId: Int
    }
    struct SeatCategory: Codable, Sendable {
      struct Area: Codable, Sendable {
        var areaId: Int
        var blockIds: [Int]
      }
      var areas: [Area]
      var seatCategoryId: Int
    }
    var eventId: Int
    var id: Int
    var logo: String?
    var prices: [Price]
    var seatCategories: [SeatCategory]
    var start: Int
    var venueCode: String
  }

  var areaNames: [String: String]
  var events: [String: Event]
  var performances: [Performance]

  static func make(_ count: Int) -> Catalog {
    Catalog(
      areaNames: Dictionary(uniqueKeysWithValues: (0..<count).map { ("\(205_705_990 + $0)", "Arrière-scène \($0)") }),
      events: Dictionary(
        uniqueKeysWithValues: (0..<count).map { id in
          (
            "\(138_586_340 + id)",
            Event(
              id: 138_586_340 + id, name: "30th Anniversary Tour \(id)", logo: id % 2 == 0 ? "/images/\(id).gif" : nil,
              description: nil, subTopicIds: [337_184_269, 337_184_283], topicIds: [324_846_099, 107_888_604])
          )
        }),
      performances: (0..<count).map { id in
        Performance(
          eventId: 138_586_341, id: 339_887_544 + id, logo: nil,
          prices: (0..<4).map {
            .init(amount: 90_250 - $0, audienceSubCategoryId: 337_100_890, seatCategoryId: 338_937_295 + $0)
          },
          seatCategories: (0..<2).map { number in
            .init(
              areas: (0..<8).map { .init(areaId: 205_705_999 + $0, blockIds: []) }, seatCategoryId: 338_937_235 + number
            )
          }, start: 1_372_701_600_000 + id, venueCode: "PLEYEL_PLEYEL")
      })
  }
}

/// The shape of a repository of GitHub: 64 members, of which the model has 18.
struct Repository: Codable, Sendable {
  var id: Int
  var nodeId: String
  var name: String
  var fullName: String
  var isPrivate: Bool
  var description: String?
  var isFork: Bool
  var url: String
  var createdAt: Date
  var updatedAt: Date
  var homepage: String?
  var size: Int
  var stars: Int
  var watchers: Int
  var language: String?
  var forks: Int
  var openIssues: Int
  var topics: [String]

  static func make(_ count: Int) -> [Repository] {
    (0..<count).map { (id: Int) -> Repository in
      let since = Double(id)
      return Repository(
        id: 1_296_269 + id, nodeId: "MDEwOlJlcG9zaXRvcnkx\(id)", name: "engine-\(id)", fullName: "ada/engine-\(id)",
        isPrivate: id % 3 == 0, description: id % 2 == 0 ? "Notes on the \u{201C}Analytical Engine\u{201D} \(id)" : nil,
        isFork: id % 2 == 0, url: "https://api.github.com/repos/ada/engine-\(id)",
        createdAt: Date(timeIntervalSince1970: 1_300_000_000 + since),
        updatedAt: Date(timeIntervalSince1970: 1_700_000_000 + since), homepage: nil, size: id * 17,
        stars: id * 31, watchers: id * 7, language: "Swift", forks: id, openIssues: id % 50,
        topics: ["engine", "notes"])
    }
  }

  /// Returns the repositories in an envelope, with the 46 members that the model does not have.
  static func envelope(_ count: Int) throws -> Data {
    var text = try JSONSerialization.jsonObject(with: Payloads.envelope(make(count))) as? [String: Any] ?? [:]
    text["data"] = (text["data"] as? [[String: Any]])?.map { repository in
      (0..<46).reduce(into: repository) { $0["link_\($1)_url"] = "https://api.github.com/repos/ada/engine/links/\($1)" }
    }
    return try JSONSerialization.data(withJSONObject: text, options: [.withoutEscapingSlashes, .sortedKeys])
  }
}

/// Objects in objects. Each level is an object and an array.
struct Tree: Codable, Sendable {
  var id: Int
  var children: [Tree]

  static func make(depth: Int) -> Tree {
    (1..<depth).reduce(Tree(id: 0, children: [])) { Tree(id: $1, children: [$0]) }
  }
}

/// The shape of `canada.json`: coordinates.
enum Coordinates {
  static func make(_ count: Int) -> [[Double]] {
    (0..<count).map { number -> [Double] in
      let step = Double(number)
      return [step / 977 - 65.613_616_999_999_8, 43.420_273_000_000_01 - step / 1_013]
    }
  }
}

/// Long texts, with escapes and several scripts.
enum Texts {
  static func make(_ count: Int) -> [String] {
    (0..<count).map {
      String(repeating: "The engine weaves algebraic patterns \($0). ", count: 3) + "\n\t\"分析エンジン\" – Ада \($0)"
    }
  }
}

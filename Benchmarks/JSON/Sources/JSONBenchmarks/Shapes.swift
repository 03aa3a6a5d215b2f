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

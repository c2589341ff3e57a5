import BrokerProtocol

/// The consents by which connections are answered from the cache.
///
/// A connection that a consent was found for keeps it for as long as the consent lives: its processes are not looked at
/// once more, and a token costs a comparison, without an allocation. Each connection and profile has one place in a table
/// of a fixed size: where two have the same, the later one takes it, and the other is judged by the broker again.
struct CachedConsents: Sendable {
  /// A connection, the position of a profile, and the life of the consent, in milliseconds of uptime.
  private struct Place {
    var client: UInt64 = 0
    var position = 0
    var number: UInt64 = 0
    var end: Int64 = 0
    var idle: Int64 = 0
    var usedAt: Int64 = 0
  }

  /// How many places there are: more than a person's programs have connections, in 48 KiB.
  private static let count = 1024

  /// Made with the first consent.
  private var places: [Place] = []

  /// Connections are numbered one after the other, so that neighbours have different places.
  private static func index(_ client: ClientID, _ position: Int) -> Int {
    Int(truncatingIfNeeded: client.number &+ UInt64(truncatingIfNeeded: position) &* 31) & (count - 1)
  }

  /// Whether a connection has a living consent for the profile at a position.
  func isAlive(_ client: ClientID, _ position: Int, uptime: Int64) -> Bool {
    guard !places.isEmpty else { return false }
    let place = places[Self.index(client, position)]
    return place.client == client.number && place.position == position && uptime < place.end
      && uptime &- place.usedAt < place.idle
  }

  /// Takes in that it was used.
  mutating func use(_ client: ClientID, _ position: Int, uptime: Int64) {
    places[Self.index(client, position)].usedAt = uptime
  }

  /// The consents that connections have, and when each was last used from here.
  var uses: [(number: UInt64, usedAt: Int64)] {
    places.compactMap { $0.number == 0 ? nil : ($0.number, $0.usedAt) }
  }

  /// Lets a connection have a profile by a consent.
  mutating func keep(_ consent: Consents.Grant, for client: ClientID, at position: Int) {
    if places.isEmpty { places = Array(repeating: Place(), count: Self.count) }
    places[Self.index(client, position)] = Place(
      client: client.number, position: position, number: consent.number, end: consent.end.milliseconds,
      idle: consent.idle.milliseconds, usedAt: consent.usedAt.milliseconds)
  }

  /// Forgets those that are remembered no more.
  mutating func retain(where isRemembered: (UInt64) -> Bool) {
    for index in places.indices where places[index].number > 0 && !isRemembered(places[index].number) {
      places[index] = Place()
    }
  }

  /// Forgets a connection; nil for everything.
  mutating func forget(_ client: ClientID?) {
    guard let client else {
      places = []
      return
    }
    for index in places.indices where places[index].client == client.number { places[index] = Place() }
  }
}

import BrokerCore

/// Which refresh tokens were sent by which member, and what has become durable of the session that all have.
struct FleetLedger {
  /// What its member can know of one sending.
  enum Outcome { case underWay, notActedOn, unknown, answered }

  /// One sending of a token.
  struct Sending {
    let member: Int
    let call: Int
    let at: Duration
    var outcome = Outcome.underWay
  }

  /// The sendings of each refresh token.
  var sendings: [String: [Sending]] = [:]
  /// The access tokens whose record was written.
  var durable: Set<String> = []
  /// The sessions whose record was written.
  var families: Set<Int> = []
  /// When sessions were logged out in the place.
  var loggedOut: [Int: Duration] = [:]
  /// The newest record: its generation, and the refresh token of the session if it is a living one.
  var newest: (generation: UInt64, token: SimulatedServer.Token?) = (0, nil)
  /// Sessions that were there when writes were lost: nobody can keep all promises for them.
  var forgiven: Set<Int> = []

  /// Notes what has become of a sending.
  mutating func end(_ text: String, _ call: Int, of member: Int, _ outcome: Outcome) {
    guard let index = sendings[text]?.firstIndex(where: { $0.call == call && $0.member == member }) else { return }
    sendings[text]?[index].outcome = outcome
  }
}

package import BrokerProtocol
package import ConfigurationFile
import JSON

/// The section `store`: the database in which the brokers of a fleet share sessions.
package struct StoreConfiguration: Sendable, Equatable {
  /// The name of the fleet: one database may have several.
  package var fleet: String
  /// The connection string of libpq, without a password.
  package var connection: String
  /// The password of the database's role; nil where it has none.
  package var password: SecretReference?
  /// The certificates (PEM) of the authorities that are trusted for the database; nil for libpq's own place.
  package var caFile: String?
  /// The key that the data key of the fleet is wrapped under.
  package var key: SecretReference
  /// How often the records are read.
  package var pollInterval: Duration

  /// Five seconds bound how long a logout takes to reach every member; a minute is the least that is worth sharing for.
  private static let pollSetting = DurationSetting("pollSeconds", 1...60, standard: 5)
  /// The most characters of a fleet's name: as many as of a profile's.
  private static let longestName = 64

  /// Reads the section; nil where it is absent, or has a mistake.
  init?(_ section: inout ConfigurationSection) {
    section.require("fleet", #"write fleet: "a-name", the same for every member"#)
    section.require("postgres", #"write postgres: {connection: "host=db.example.com dbname=authbroker"}"#)
    section.require("key", "write key: \(SecretReference.forms); authbroker fleet init makes one with --new-key FILE")
    let name = Self.name(&section)
    var postgres = section.section("postgres")
    let connection = Self.connection(&postgres)
    let password = SecretReference.read("password", in: &postgres)
    let caFile = postgres.authorityFile("caFile")
    postgres.finish(aliases: ["dsn": "connection", "url": "connection", "sslrootcert": "caFile"])
    let key = SecretReference.read("key", in: &section, .whole)
    pollInterval = section.read(Self.pollSetting)
    section.finish(aliases: ["name": "fleet", "postgresql": "postgres"])
    guard let name, let connection, let key else { return nil }
    (fleet, self.connection, self.password, self.caFile, self.key) = (name, connection, password, caFile, key)
  }

  private static func name(_ section: inout ConfigurationSection) -> String? {
    guard let name = section.string("fleet", takesAny: false) else { return nil }
    if ProfileName(name) != nil { return name }
    section.report(
      "fleet", "is no name of a fleet",
      "use a-z, 0-9, '.', '_' and '-', a letter or digit first, at most \(longestName) characters")
    return nil
  }

  /// Reads the connection string: one with a password would be a secret in the configuration.
  private static func connection(_ postgres: inout ConfigurationSection) -> String? {
    postgres.require("connection", #"write connection: "host=db.example.com dbname=authbroker user=authbroker""#)
    guard let connection = postgres.string("connection", takesAny: false) else { return nil }
    let words = connection.lowercased()
    let isURI = words.hasPrefix("postgres://") || words.hasPrefix("postgresql://")
    let authority = isURI ? connection.split(separator: "/", maxSplits: 3).dropFirst().first ?? "" : ""
    let user = authority.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
    guard !words.includes("password"), user.count < 2 || !user[0].contains(":") else {
      postgres.report(
        "connection", "a password must not stand in the configuration",
        "write where it is: password: \(SecretReference.forms)")
      return nil
    }
    return connection
  }
}

extension BrokerConfiguration {
  /// The profiles whose sessions are shared.
  package var sharedProfiles: [ProfileName] { profiles.filter(\.isShared).map(\.name) }

  /// Whether another configuration has the same store, and shares the same of the profiles that both have.
  package func sharesAsDoes(_ other: BrokerConfiguration) -> Bool {
    guard sharedProfiles != other.sharedProfiles || store != other.store else { return true }
    let known = Dictionary(other.profiles.map { ($0.name, $0.isShared) }) { first, _ in first }
    return store == other.store && profiles.allSatisfy { (known[$0.name] ?? $0.isShared) == $0.isShared }
  }

  /// Reads the store, and reports shared profiles that have none, or that no other member could use.
  static func store(_ root: inout ConfigurationSection, _ profiles: [ProfileConfiguration]) -> StoreConfiguration? {
    var section = root.section("store")
    let store = StoreConfiguration(&section)
    guard profiles.contains(where: { $0.isShared }) else { return store }
    let list = root.section("profiles", at: root.node(at: "profiles"))
    for profile in profiles where profile.isShared {
      guard let value = list.node(at: profile.name.description) else { continue }
      let place = list.section(profile.name.description, at: value)
      if !root.has("store") {
        place.report("shared", "needs the database of a fleet", "add the section store, or remove shared")
      } else if case .local = profile.provider, place.node(at: "provider").flatMap({ try? $0.string() }) == "local" {
        place.report(
          "shared", "cannot be had with the provider local, whose accounts are on this machine alone", "remove shared")
      }
    }
    return store
  }
}

import BrokerCore
import BrokerProtocol
import ConfigurationFile
import JSON

/// The section `targets`: which servers get which profile's token.
extension BrokerConfiguration {
  private static let schemeSetting = ChoiceSetting("scheme", standard: Target.Scheme.bearer)

  /// The keys of an entry.
  ///
  /// They are not among those of which an unknown key elsewhere may be one: `profile` at the top is meant as `profiles`.
  package static let targetKeys: [String] = {
    let context = ConfigurationContext()
    var entry = context.blankSection("targets.URL")
    _ = target("", &entry, [])
    return context.keys["targets.URL"]
  }()

  /// Reads the map; entries with mistakes are reported and left out.
  static func targets(_ root: inout ConfigurationSection) -> TargetMap {
    let section = root.section("targets")
    var map = TargetMap()
    let members = section.namedMembers()
    guard !members.isEmpty else { return map }
    // Those of the file: a profile with a mistake is no reason for another one here.
    let names = root.node(at: "profiles").flatMap { try? $0.members().map(\.name) } ?? [ProfileName.default.description]
    let profiles = names.compactMap(ProfileName.init)
    guard members.count <= TargetMap.mostTargets else {
      root.report("targets", "has \(members.count) entries", "write at most \(TargetMap.mostTargets)")
      return map
    }
    for (url, value) in members {
      guard let address = address(url, value, section),
        let target = target(url, value, section, profiles).flatMap({ named($0, address, value, section) })
      else { continue }
      if !map.add(target, at: address) {
        section.report(nameOf: value, url, "is the same address as another entry", "remove one of them")
      }
    }
    return map
  }

  private static func address(
    _ url: String, _ value: JSONNode, _ section: ConfigurationSection
  ) -> TargetAddress? {
    guard !url.contains("?"), !url.contains("#") else {
      section.report(
        nameOf: value, url, "is no prefix of addresses", "write scheme, user name, host, port and path alone")
      return nil
    }
    do throws(TargetAddress.Fault) { return try TargetAddress(prefix: url) } catch {
      // What is suggested is an address itself.
      let meant = "https://" + url.drop { $0 == "/" || $0 == ":" }
      let isOne = error == .scheme && !url.includes("://") && (try? TargetAddress(meant)) != nil
      let suggestion = isOne ? "write \"\(meant)\"" : nil
      section.report(nameOf: value, url, "must be \(error.expectation)", suggestion)
      return nil
    }
  }

  /// The entry with the user name of its address.
  private static func named(
    _ target: Target, _ address: TargetAddress, _ value: JSONNode, _ section: ConfigurationSection
  ) -> Target? {
    guard let user = address.user else { return target }
    guard target.username == nil || target.username == user else {
      section.report(nameOf: value, target.url, "has another user name than its username", "remove one of them")
      return nil
    }
    var target = target
    target.username = user
    return target
  }

  private static func target(
    _ url: String, _ value: JSONNode, _ section: ConfigurationSection, _ profiles: [ProfileName]
  ) -> Target? {
    if value.kind == .string {
      guard let name = section.expandedString(url, takesAny: false),
        let profile = profile(name, section, url, profiles)
      else { return nil }
      return Target(url: url, profile: profile)
    }
    var entry = section.section(url, at: value, placeholder: "URL")
    return target(url, &entry, profiles)
  }

  private static func target(
    _ url: String, _ entry: inout ConfigurationSection, _ profiles: [ProfileName]
  ) -> Target? {
    entry.require("profile", "write the name of a profile")
    let name = entry.string("profile", takesAny: false)
    let username = username(&entry)
    let scopes = entry.strings("scopes")
    if let scopes, (try? TokenTarget.scopes(scopes)) == nil {
      entry.report("scopes", "must be at most \(TokenTarget.mostScopes) scopes of visible ASCII characters")
    }
    let audience = entry.string("audience")
    if let audience, !TokenTarget.isAudience(audience) {
      entry.report("audience", "must have 1 to \(TokenTarget.longestAudience) bytes without control characters")
    }
    let hasScheme = entry.has(schemeSetting.key)
    let scheme = entry.read(schemeSetting)
    entry.finish(aliases: ["user": "username", "account": "profile", "scope": "scopes"])
    guard let name, let profile = profile(name, entry, "profile", profiles) else { return nil }
    return Target(
      url: url, profile: profile, username: username, scopes: scopes, audience: audience,
      scheme: hasScheme ? scheme : nil)
  }

  /// A user name that basic authentication and every tool's own format can carry.
  private static func username(_ entry: inout ConfigurationSection) -> String? {
    guard let name = entry.string("username") else { return nil }
    // Docker takes the secret of the user `<token>` for a refresh token, and posts it to another server.
    guard (1...256).contains(name.utf8.count), name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F && $0 != 0x3A }),
      name != "<token>"
    else {
      entry.report(
        "username", "must have 1 to 256 bytes, without \":\" and control characters, and not be \"<token>\"")
      return nil
    }
    return name
  }

  private static func profile(
    _ name: String, _ section: ConfigurationSection, _ key: String, _ profiles: [ProfileName]
  ) -> ProfileName? {
    if let profile = profiles.first(where: { $0.description == name }) { return profile }
    let nearest = Spelling.nearest(to: name, among: profiles.map(\.description))
    section.report(
      key, "names a profile that is not configured",
      nearest.map { "did you mean \"\($0)\"?" } ?? "add it to profiles")
    return nil
  }
}

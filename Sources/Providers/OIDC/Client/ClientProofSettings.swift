import ConfigurationFile
import JSON

/// The settings of what a client shows: a password, a key of its own, or an assertion of another party.
struct ClientProofSettings {
  /// The client authentication.
  let method: OIDCDialect.ClientAuthentication
  /// The source of its assertion; nil for a client with a password, or none.
  let assertion: ClientAssertion?

  /// The keys of which one is given at most.
  private static let proofs = ["clientSecret", "privateKey", "clientAssertion"]

  /// Whether a section has one of them.
  static func isGiven(in section: ConfigurationSection) -> Bool { !given(in: section).isEmpty }

  private static func given(in section: ConfigurationSection) -> [String] {
    proofs.filter { section.has($0) || $0 == "clientAssertion" && section.has("assertion") && !isGrant(section) }
  }

  /// Whether `assertion` is what tokens are requested for.
  private static func isGrant(_ section: ConfigurationSection) -> Bool {
    section.node(at: "grant").flatMap { try? $0.string() } == MachineGrant.Name.jwtBearer.rawValue
  }

  /// Reads the settings of a profile: HTTP Basic for a client with a secret, unless the file says otherwise; none for a
  /// client without.
  init(_ section: inout ConfigurationSection) {
    let issued = Self.issuedAssertion(&section)
    let key = Self.key(&section)
    let given = Self.given(in: section)
    for extra in given.dropFirst() { section.report(extra, "cannot be given beside \(given[0])", "remove one of them") }
    method = Self.method(&section, given.first)
    assertion = issued ?? key.map { .signed($0) }
  }

  private static func method(
    _ section: inout ConfigurationSection, _ proof: String?
  ) -> OIDCDialect.ClientAuthentication {
    let standard: OIDCDialect.ClientAuthentication =
      switch proof {
      case "clientSecret": .basic
      case "privateKey": .privateKeyJWT
      case "clientAssertion": .assertion
      default: .none
      }
    let setting = ChoiceSetting("clientAuth", standard: standard)
    let chosen = section.read(setting)
    guard section.has("clientAuth"), !section.isFaulty("clientAuth") else { return standard }
    guard chosen != .assertion else {
      section.report("clientAuth", "must be \(setting.expected)", "clientAssertion says it by itself")
      return standard
    }
    let need: String? =
      switch chosen {
      case .basic, .post: "clientSecret"
      case .privateKeyJWT: "privateKey"
      case .none, .assertion: nil
      }
    if let need, proof != need {
      section.report("clientAuth", "needs \(need)")
      return standard
    }
    if need == nil, let proof {
      let advice = proof == "clientSecret" ? #"write "basic" or "post""# : "remove it"
      section.report("clientAuth", "cannot be \"none\" with a \(proof)", advice)
    }
    return chosen
  }

  private static func issuedAssertion(_ section: inout ConfigurationSection) -> ClientAssertion? {
    var source = AssertionSource.read("clientAssertion", in: &section)
    // Under the grant of that name it is what tokens are requested for; under any other one it is this.
    if !isGrant(section) {
      let other = AssertionSource.read("assertion", in: &section)
      if section.has("assertion"), section.has("clientAssertion") {
        section.report("assertion", "is another name of clientAssertion", "remove one of them")
      }
      source = source ?? other
    }
    let type = section.read(ChoiceSetting("assertionType", standard: AssertionType.jwtBearer))
    if section.has("assertionType"), !given(in: section).contains("clientAssertion") {
      section.report("assertionType", "needs clientAssertion")
    }
    return source.map { .issued($0, type) }
  }

  private static func key(_ section: inout ConfigurationSection) -> ClientKey? {
    let source = SecretReference.read("privateKey", in: &section, .whole)
    let keyID = section.word("privateKeyId")
    let namesAlgorithm = section.has("privateKeyAlgorithm")
    let chosen = section.read(ChoiceSetting("privateKeyAlgorithm", standard: ClientKey.Algorithm.es256))
    let audience = section.word("assertionAudience")
    for name in ["privateKeyId", "privateKeyAlgorithm", "assertionAudience"]
    where section.has(name) && !section.has("privateKey") {
      section.report(name, "needs privateKey")
    }
    return source.map {
      ClientKey($0, keyID: keyID, algorithm: namesAlgorithm ? chosen : nil, audience: audience)
    }
  }
}

import BrokerProtocol
import ConfigurationFile
import JSON
import ProviderKit

extension MachineGrant {
  /// The keys of a profile that say what the requests show.
  private static let members = [
    "subjectToken", "subjectTokenType", "actorToken", "actorTokenType", "requestedTokenType",
  ]

  /// Reads the grant of a profile; nil where someone logs in, or it is faulty.
  init?(_ section: inout ConfigurationSection) {
    let isGiven = section.has("grant")
    let name = section.read(ChoiceSetting("grant", standard: Name.clientCredentials))
    let isKnown = isGiven && !section.isFaulty("grant")
    let assertion = name == .jwtBearer && isGiven ? TokenSource.read("assertion", in: &section, isIDToken: false) : nil
    let exchange = TokenExchange(&section)
    for member in Self.members where section.has(member) && !(isKnown && name == .exchange) {
      section.report(member, #"needs grant: "exchange""#)
    }
    if isGiven, section.has("methods") {
      section.report("methods", "cannot be given beside grant", "remove one of them: no one logs in by a grant")
    }
    guard isKnown else { return nil }
    switch name {
    case .clientCredentials:
      if !ClientProofSettings.isGiven(in: section) {
        section.report("grant", "\"clientCredentials\" needs clientSecret, privateKey or clientAssertion")
      }
      self = .clientCredentials
    case .jwtBearer:
      section.require("assertion", "write \(TokenSource.forms)")
      guard let assertion else { return nil }
      self = .jwtBearer(assertion)
    case .exchange:
      section.require("subjectToken", "write \(TokenSource.forms)")
      guard let exchange else { return nil }
      self = .exchange(exchange)
    }
  }
}

extension TokenExchange {
  /// Reads the members of an exchange; nil without a subject.
  fileprivate init?(_ section: inout ConfigurationSection) {
    let subjectType = section.absoluteURI("subjectTokenType")
    let actorType = section.absoluteURI("actorTokenType")
    let requestedType = section.absoluteURI("requestedTokenType")
    let subject = TokenSource.read("subjectToken", in: &section, isIDToken: subjectType == TokenType.idToken)
    let actor = TokenSource.read("actorToken", in: &section, isIDToken: actorType == TokenType.idToken)
    if section.has("actorTokenType"), !section.has("actorToken") {
      section.report("actorTokenType", "needs actorToken")
    }
    guard let subject else { return nil }
    self.init(
      subject: subject, subjectType: subjectType ?? subject.standardType, actor: actor,
      actorType: actorType ?? actor?.standardType ?? TokenType.accessToken, requestedType: requestedType)
  }
}

extension TokenSource {
  /// The forms of it in a configuration.
  static let forms = #"{from: "PROFILE"}, {file: "/PATH"}, {command: ["PROGRAM"]} or {githubActions: {audience: "…"}}"#

  /// The type of such a token where none is configured.
  fileprivate var standardType: String {
    switch self {
    case .profile(_, isIDToken: true): TokenExchange.TokenType.idToken
    case .profile: TokenExchange.TokenType.accessToken
    case .assertion: TokenExchange.TokenType.jwt
    }
  }

  /// Reads the source at a key; nil where it is absent or faulty.
  ///
  /// Whether there is such a profile is found out once all are read.
  fileprivate static func read(_ key: String, in section: inout ConfigurationSection, isIDToken: Bool) -> TokenSource? {
    guard let node = section.value(key) else { return nil }
    guard node.kind == .object else {
      section.report(key, "a token must not stand in the configuration", "write where it is: \(forms)")
      return nil
    }
    var source = section.section(key)
    let name = source.string("from", takesAny: false)
    let found = AssertionSource.members(&source, of: key)
    source.finish(aliases: ["profile": "from", "path": "file", "github": "githubActions"])
    let count = (AssertionSource.members + ["from"]).count { source.has($0) }
    guard count == 1 else {
      if count > 1 || source.isEmpty { section.report(key, "must be one of \(forms)") }
      return nil
    }
    guard source.has("from") else { return found.map { .assertion($0) } }
    guard let name else { return nil }
    guard let profile = ProfileName(name) else {
      source.report("from", "must be the name of a profile")
      return nil
    }
    return .profile(profile, isIDToken: isIDToken)
  }
}

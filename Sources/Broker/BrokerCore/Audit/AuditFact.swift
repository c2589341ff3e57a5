package import BrokerProtocol

/// The token of an answer as the audit knows it: everything but the token.
package struct Grant: Sendable, Equatable {
  /// The profile.
  package var profile: ProfileName
  /// The scopes of the token.
  package var scopes: [String]
  /// Its audience, where it is for another one than the session's own.
  package var audience: String?
  /// The name of the token.
  package var tokenID: String
  /// Whether it is the session's own, which is given again from the cache.
  package var isOwn: Bool

  /// A grant of these members.
  package init(
    profile: ProfileName, scopes: [String] = [], audience: String? = nil, tokenID: String, isOwn: Bool = false
  ) {
    (self.profile, self.scopes, self.audience) = (profile, scopes, audience)
    (self.tokenID, self.isOwn) = (tokenID, isOwn)
  }
}

/// The members of an entry that do not hang on time: equal facts of a minute are one entry.
package struct AuditFact: Hashable, Sendable {
  /// A grant, a refusal or a consent.
  package var kind: AuditEntry.Kind
  /// The client.
  package var client: AuditedClient
  /// The method that it called; nil where several are joined.
  package var method: String?
  /// The profile.
  package var profile: ProfileName?
  /// The scopes of the token, or those asked for.
  package var scopes: [String]?
  /// The audience of the token, or the one asked for.
  package var audience: String?
  /// The name of the token.
  package var tokenID: String?
  /// The kind of the error, or how a question for consent ended.
  package var outcome: String?
  /// The subject of a consent.
  package var subject: String?

  /// The most bytes that the scopes of an entry have together, and its audience: as many as tokens have; requests that
  /// are refused may ask for any number.
  private static let longest = ParameterLength.scopes
  /// The word for refusals that are joined although they differ.
  private static let several = "several"

  /// A fact of these members; scopes and an audience that no token can have are left out.
  package init(
    _ kind: AuditEntry.Kind, _ client: AuditedClient, method: String?, profile: ProfileName? = nil,
    scopes: [String]? = nil, audience: String? = nil, tokenID: String? = nil, outcome: String? = nil,
    subject: String? = nil
  ) {
    (self.kind, self.client, self.method, self.profile) = (kind, client, method, profile)
    self.scopes = scopes.flatMap { Self.isShort($0) ? $0 : nil }
    self.audience = audience.flatMap { $0.utf8.count <= Self.longest ? $0 : nil }
    (self.tokenID, self.outcome, self.subject) = (tokenID, outcome, subject)
  }

  /// The fact that a token was given.
  package init(_ grant: Grant, to client: AuditedClient, by method: String) {
    self.init(
      .grant, client, method: method, profile: grant.profile, scopes: grant.scopes.isEmpty ? nil : grant.scopes,
      audience: grant.audience, tokenID: grant.tokenID)
  }

  /// The fact that a question for consent has ended.
  init(_ decision: ConsentDecision) {
    var subject: String?
    if case .allowed(let allowed, let remember) = decision.outcome {
      subject = allowed.shown(remember: remember).subject
    }
    self.init(
      .consent, AuditedClient(ClientIdentity(decision.client.identity)), method: decision.method,
      profile: decision.profile, scopes: decision.scopes, audience: decision.audience, outcome: decision.outcome.word,
      subject: subject)
  }

  private static func isShort(_ scopes: [String]) -> Bool {
    !scopes.isEmpty && scopes.count <= longest && scopes.reduce(0) { $0 + $1.utf8.count + 1 } <= longest
  }

  /// Its source, as the kernel and the entrance name it: a client can choose neither.
  var source: AuditSource {
    var client = client
    client.identity.tool = nil
    return AuditSource(client: client, kind: kind)
  }

  /// Whether a client was given something, and not refused it.
  var isGiven: Bool { kind == .grant || outcome == ConsentDecision.Outcome.allowedWord }

  /// The same with others of its source: of what was given all but the name that the client gives itself, of what was not
  /// only that it was asked for.
  var joined: AuditFact {
    var fact = self
    fact.client = source.client
    guard !isGiven else { return fact }
    (fact.method, fact.profile, fact.scopes, fact.audience) = (nil, nil, nil, nil)
    fact.outcome = Self.several
    return fact
  }

  /// An entry that stands for so many of these.
  func entry(at time: Timestamp, count: Int = 1, since: Timestamp? = nil) -> AuditEntry {
    var entry = AuditEntry(kind, at: time, count: count, since: since == time ? nil : since, outcome: outcome)
    (entry.client, entry.method, entry.profile) = (client, method, profile)
    (entry.scopes, entry.audience, entry.tokenID, entry.subject) = (scopes, audience, tokenID, subject)
    return entry
  }
}

/// A source of facts of one kind.
struct AuditSource: Hashable, Sendable {
  /// The client, without the name that it gives itself.
  let client: AuditedClient
  /// The kind.
  let kind: AuditEntry.Kind
}

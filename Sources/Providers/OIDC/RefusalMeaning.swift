import BrokerCore
import BrokerProtocol
import ProviderKit

/// The meaning of an error's name at a token endpoint.
enum RefusalMeaning: Sendable, Equatable {
  /// The refresh token is good no more.
  case sessionOver
  /// The user is to be seen again.
  case userWanted
  /// It passes.
  case passing
  /// The client is not configured as the provider wants it.
  case fault(ConfigurationFault)
  /// The requested grant, scope or audience is not given.
  case notGranted
  /// The kind that the profile's `errors` gives the name.
  case configured(ErrorKind)

  /// The kinds that a profile's `errors` can name.
  static let possibleKinds: [ErrorKind] = [
    .sessionExpired, .reauthRequired, .providerUnavailable, .rateLimited, .insufficientScope, .providerRejected,
  ]

  /// The meaning of a name; nil where it has none that is known.
  ///
  /// - Parameters:
  ///   - name: as the provider wrote it.
  ///   - status: the status that it came with.
  ///   - quirks: what the profile and the preset say of names.
  init?(_ name: String, status: Int, _ quirks: OIDCQuirks) {
    if let kind = quirks.errorKinds[name] {
      self = .configured(kind)
      return
    }
    let word = quirks.errorNames[name] ?? name
    if let meaning = Self.standard[word] {
      self = meaning
      return
    }
    // Others write names as they like; a reason of a status, such as `Unauthorized`, is none.
    let key = RefusalWords.letters(word.split { $0 == "." }.last.map(String.init) ?? "")
    if let meaning = Self.spelt[key] {
      self = meaning
      return
    }
    guard Self.endings.contains(key) || status == 401 && word == "unauthorized" else { return nil }
    self = .sessionOver
  }

  /// Whether a name leaves the session whatever is said beside it: it is about the client, a proof or the request
  /// alone.
  static func leavesSession(_ name: String) -> Bool { leaving.contains(RefusalWords.letters(name)) }

  private static let leaving: Set<String> = [
    "invalidclient", "unsupportedgranttype", "invaliddpopproof", "usedpopnonce",
  ]

  /// The words of the specifications.
  private static let standard: [String: RefusalMeaning] = {
    var meanings: [String: RefusalMeaning] = ["invalid_grant": .sessionOver]
    // The user is to be seen again (OpenID Connect Core, section 3.1.2.6), also in the words of OAuth 2.0 for First-Party
    // Applications (draft-ietf-oauth-first-party-apps).
    for name in [
      "interaction_required", "login_required", "consent_required", "mfa_required", "account_selection_required",
      "insufficient_authorization",
    ] { meanings[name] = .userWanted }
    for name in ["server_error", "temporarily_unavailable", "slow_down"] { meanings[name] = .passing }
    // RFC 6749, sections 4.1.2.1 and 5.2; OpenID Connect Core, section 3.1.2.6; RFC 8707, section 2.
    let faults: [ConfigurationFault: [String]] = [
      .client: ["invalid_client", "registration_not_supported"],
      .grant: ["unauthorized_client", "unsupported_grant_type", "unsupported_response_type"],
      .scopes: ["invalid_scope", "invalid_target"],
      .request: [
        "invalid_request", "invalid_request_uri", "invalid_request_object", "request_not_supported",
        "request_uri_not_supported",
      ],
      // RFC 9449, sections 5 and 8: the profile is not configured with the key that the provider wants.
      .possession: ["invalid_dpop_proof", "use_dpop_nonce"],
    ]
    for (fault, names) in faults { for name in names { meanings[name] = .fault(fault) } }
    // In the words of Microsoft and Auth0.
    for name in ["invalid_resource", "access_denied"] { meanings[name] = .notGranted }
    return meanings
  }()

  /// The names that end a session, or pass, in letters and digits alone: providers differ in how they spell them.
  private static let spelt = Dictionary(
    standard.filter { $0.value == .sessionOver || $0.value == .passing }.map {
      (RefusalWords.letters($0.key), $0.value)
    },
    uniquingKeysWith: { first, _ in first })

  /// Other providers' names for a refresh token that has ended, in letters and digits alone: HubSpot, Slack, UAA and
  /// Spring, Ory Hydra, FusionAuth, GitHub, Django, WordPress, Salesforce and backends of many.
  private static let endings: Set<String> = [
    "badrefreshtoken", "invalidrefreshtoken", "invalidrefresh", "refreshtokeninvalid", "refreshtokenexpired",
    "expiredrefreshtoken", "refreshtokenrevoked", "refreshtokennotfound", "refreshtokenreused",
    "refreshtokenalreadyused", "refreshtokenblacklisted", "tokenexpired", "expiredtoken", "tokenrevoked",
    "tokeninactive", "tokennotvalid", "tokenblacklisted", "blacklisted", "invalidtoken", "expiredgrant",
    "sessionexpired", "sessionnotfound", "invalidsession", "sessionrevoked", "sessionterminated", "inactiveuser",
    "jwtauthexpiredtoken", "jwtauthinvalidrefreshtoken",
    // Okta's own number for an invalid token.
    "e0000011",
    // Zoho, which has no other name for it.
    "invalidcode",
  ]
}

public import JSON

extension ExplainAccess {
  /// The decision for one profile, and the reason.
  public struct AccessDecision: ObjectCodable, Equatable {
    /// The profile.
    public var profile: ProfileName
    /// The reason: `unlimited`, there are neither rules nor a limited socket; `rule`; `noRule`, none matches, so that
    /// nothing is given; `socket`, the limited socket alone, since there are no rules; `outsideSocket`, the limited
    /// socket does not have the profile; `notAdmitted`, the user of the client may not connect.
    public var reason: String
    /// The rule that decides; nil where none does.
    public var rule: DecidingRule?
    /// Whether the profile exists for the client.
    public var exists: Bool
    /// The methods that it may call with the profile; nil for all that need no proof of access to the state directory.
    public var methods: [String]?
    /// The scopes that its tokens may have; nil for any.
    public var scopes: [String]?
    /// The audiences that its tokens may be for; nil for any.
    public var audiences: [String]?
    /// Whether it may `hold` tokens, or `use` them; nil where the profile does not exist for it.
    public var may: String?
    /// Whether the owner is asked before a token is given: `once`, so that the answer is remembered, or `always`; absent
    /// where they are not.
    public var confirm: String?
    /// Whether it may call the method in question; nil where none is.
    public var allowed: Bool?

    /// A decision of these members.
    public init(
      profile: ProfileName, reason: String, rule: DecidingRule? = nil, exists: Bool, methods: [String]? = nil,
      scopes: [String]? = nil, audiences: [String]? = nil, may: String? = nil, confirm: String? = nil,
      allowed: Bool? = nil
    ) {
      (self.profile, self.reason, self.rule, self.exists) = (profile, reason, rule, exists)
      (self.methods, self.scopes, self.audiences) = (methods, scopes, audiences)
      (self.may, self.confirm, self.allowed) = (may, confirm, allowed)
    }

    public static let blank = AccessDecision(profile: .default, reason: "", exists: false)

    public mutating func code(_ coder: inout some ObjectCoder) throws(JSONMismatch) {
      try coder.required("profile", &profile)
      let reasons = ["unlimited", "rule", "noRule", "socket", "outsideSocket", "notAdmitted"]
      try coder.required("reason", &reason, .word(of: reasons))
      try coder.optional("rule", &rule)
      try coder.required("exists", &exists)
      try coder.optional("methods", &methods)
      try coder.optional("scopes", &scopes)
      try coder.optional("audiences", &audiences)
      try coder.optional("may", &may, .word(of: ["hold", "use"]))
      try coder.optional("confirm", &confirm, .word(of: ["once", "always"]))
      try coder.optional("allowed", &allowed)
    }
  }
}

package import BrokerProtocol

/// The permissions of one client for each profile, by the policy of this moment; clients that are alike share them.
package final class Permissions: Sendable {
  /// The permissions of a client that nothing limits.
  package static let all = Permissions()

  /// The client that they were made for; nil where nothing limits it.
  package let client: AccessClient?
  /// The most that its limited socket gives; nil for a client that came by another way.
  let ceiling: AccessPolicy.Ceiling?
  /// The allowance for each profile that exists for the client; nil for everything with all.
  let allowances: [ProfileName: Allowance]?
  /// The profiles that exist for it.
  package let visible: ProfileMask
  /// The profiles whose events it may hear.
  let audible: ProfileMask
  /// The profiles whose own tokens it may hold, whatever they are for: these are answered from the cache.
  let open: ProfileMask
  /// Whether the profile of a request that names none is one of these.
  let opensUnnamed: Bool
  /// The profiles whose own tokens it may hold once the owner has consented: these are answered from the cache, too.
  let askable: ProfileMask
  /// Whether there are such.
  let asks: Bool
  /// Whether the profile of a request that names none is one of these.
  let asksUnnamed: Bool
  /// Whether it may prove access to the state directory.
  package var mayProve: Bool { client?.socket == nil }

  private init() {
    (allowances, visible, audible, open) = (nil, .all, .all, .all)
    (client, ceiling, opensUnnamed) = (nil, nil, true)
    (askable, asks, asksUnnamed) = (ProfileMask([]), false, false)
  }

  /// These allowances of the configured profiles, and nothing else.
  init(
    _ allowances: [ProfileName: Allowance], of profiles: [ProfileName], for client: AccessClient? = nil,
    within ceiling: AccessPolicy.Ceiling? = nil
  ) {
    let isOpen = { (name: ProfileName) in allowances[name]?.allowsEveryToken(confirmed: .never) == true }
    let isAskable = { (name: ProfileName) in allowances[name]?.allowsEveryToken(confirmed: .once) == true }
    self.allowances = allowances
    visible = ProfileMask(allowances.keys)
    audible = ProfileMask(profiles.filter { allowances[$0]?.allows(Subscribe.name) == true })
    open = ProfileMask(profiles.filter(isOpen))
    let unnamed = ProfileIndex(profiles).unnamed(in: visible)
    opensUnnamed = unnamed.map { isOpen(profiles[$0]) } ?? false
    let askable = profiles.filter(isAskable)
    (self.askable, asks) = (ProfileMask(askable), !askable.isEmpty)
    asksUnnamed = unnamed.map { isAskable(profiles[$0]) } ?? false
    (self.client, self.ceiling) = (client, ceiling)
  }

  /// The profiles of these names, with everything: for tests of what is shown.
  package convenience init(only names: [ProfileName]) {
    self.init(Dictionary(uniqueKeysWithValues: Set(names).map { ($0, Allowance()) }), of: names)
  }
}

extension Permissions {
  /// The next step of a client that is refused something: what its owner can change.
  ///
  /// - Parameters:
  ///   - change: such as `add it to`.
  ///   - list: the key of a limited socket that would have to allow it.
  ///   - isAllowed: whether an allowance does; where the socket's own does, a rule refuses it.
  /// - Returns: a clause.
  fileprivate func advice(_ change: String, _ list: String, _ isAllowed: (Allowance) -> Bool) -> String {
    guard let ceiling, let socket = client?.socket, !isAllowed(ceiling.allowance) else {
      return "ask its owner to \(change) access.rules"
    }
    guard !ceiling.isOpened else { return "ask its owner for a socket that gives it" }
    return "ask its owner to \(change) sockets.\(socket).\(list)"
  }
}

extension Permissions: Hashable {
  package static func == (one: Permissions, other: Permissions) -> Bool { one === other }

  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension Principal {
  /// The allowance for a profile by the method at hand; nil where the profile does not exist for it.
  private func allowance(for profile: ProfileName, by method: String) -> Allowance? {
    guard let allowances = permissions.allowances, !Allowance.isCommon(method),
      !isAdministrative || Allowance.ofTokens.contains(method)
    else { return Allowance() }
    return allowances[profile]
  }

  /// Whether it may call a method, with some profile at least.
  package func allows(_ method: String) -> Bool {
    guard let allowances = permissions.allowances, !isAdministrative, !Allowance.isCommon(method) else { return true }
    return allowances.values.contains { $0.allows(method) }
  }

  /// Whether it may call the method at hand with a profile.
  func permits(_ profile: ProfileName) -> Bool {
    guard let method else { return true }
    return allowance(for: profile, by: method)?.allows(method) ?? false
  }

  /// Whether other permissions leave it all that it may do with a profile by the method at hand.
  func keeps(_ profile: ProfileName, by permissions: Permissions) -> Bool {
    guard let method else { return true }
    var other = self
    other.permissions = permissions
    guard let own = allowance(for: profile, by: method), let left = other.allowance(for: profile, by: method) else {
      return false
    }
    return own.intersection(left) == own
  }

  /// The target that a request for a token may have: the one it asks for, within what the rules allow.
  ///
  /// - Parameters:
  ///   - profile: whose token it is.
  ///   - scopes: those asked for; nil for the session's own.
  ///   - audience: the one asked for; nil for the session's own.
  ///   - own: the scopes that the session's own token has, where that is known.
  /// - Returns: what to ask for instead.
  /// - Throws: `accessDenied`.
  func limited(
    to profile: ProfileName, _ scopes: [String]?, _ audience: String?, own: [String]?
  ) throws(BrokerError) -> (scopes: [String]?, audience: String?) {
    guard let method else { return (scopes, audience) }
    guard let allowance = allowance(for: profile, by: method), allowance.allows(method) else {
      throw .notAllowed(method, with: profile, by: permissions)
    }
    guard allowance.mayHold || !Allowance.handingOut.contains(method) else {
      throw .mayOnlyUse(profile, by: permissions)
    }
    let allowedScopes = try allowance.scopes(scopes, of: profile, own: own, by: permissions)
    return (allowedScopes, try allowance.audience(audience, of: profile, by: permissions))
  }

  /// How often the owner is asked before the method at hand gives a token of a profile.
  func confirmation(of profile: ProfileName) -> Confirmation {
    guard let method, Allowance.ofTokens.contains(method) else { return .never }
    return allowance(for: profile, by: method)?.confirmation ?? .never
  }

  /// Whether its socket has consents remembered although it is forwarded.
  package var remembersForwarded: Bool { permissions.ceiling?.remembersForwarded ?? false }

  /// Whether it may hold tokens of a profile by the method at hand, not only use them.
  func mayHold(_ profile: ProfileName) -> Bool {
    method.flatMap { allowance(for: profile, by: $0) }?.mayHold ?? true
  }
}

extension Allowance {
  fileprivate func scopes(
    _ asked: [String]?, of profile: ProfileName, own: [String]?, by permissions: Permissions
  ) throws(BrokerError) -> [String]? {
    guard let scopes else { return asked }
    guard let asked else { return own.map { $0.allSatisfy(scopes.contains) } == true ? nil : scopes }
    guard asked.allSatisfy(scopes.contains) else {
      let advice = permissions.advice("add them to", "scopes") {
        $0.scopes.map { asked.allSatisfy($0.contains) } ?? true
      }
      throw .notAllowed(at: "/scopes", of: profile, "scopes", Self.inWords(scopes), advice)
    }
    return asked
  }

  fileprivate func audience(
    _ asked: String?, of profile: ProfileName, by permissions: Permissions
  ) throws(BrokerError) -> String? {
    guard let audiences else { return asked }
    if asked == nil, audiences.count == 1 { return audiences[0] }
    guard let asked, audiences.contains(asked) else {
      let advice = permissions.advice("add it to", "audiences") {
        $0.audiences.map { $0.contains(asked ?? "") } ?? true
      }
      throw .notAllowed(at: "/audience", of: profile, "audience", Self.inWords(audiences), advice)
    }
    return asked
  }

  private static func inWords(_ list: [String]) -> String { list.isEmpty ? "none" : list.joined(separator: ", ") }
}

extension BrokerError {
  /// The refusal of a method that the rules do not allow with a profile.
  package static func notAllowed(
    _ method: String, with profile: ProfileName? = nil, by permissions: Permissions
  ) -> BrokerError {
    let object = profile.map { " with the profile \($0)" } ?? ""
    let advice = permissions.advice("add it to", "methods") { $0.allows(method) }
    return BrokerError(
      .accessDenied, "The rules of this broker do not let this client call \(method)\(object); \(advice).",
      profile: profile)
  }

  /// The refusal of a token to a client that may use it and not hold it.
  static func mayOnlyUse(_ profile: ProfileName, by permissions: Permissions) -> BrokerError {
    let advice = permissions.advice("allow \"hold\" by", "may") { $0.mayHold }
    var error = BrokerError(
      .accessDenied,
      "The rules of this broker let this client use the profile \(profile), and hold none of its tokens; \(advice).",
      profile: profile)
    error.nextAction = .useRequests
    return error
  }

  fileprivate static func notAllowed(
    at pointer: String, of profile: ProfileName, _ member: String, _ allowed: String, _ advice: String
  ) -> BrokerError {
    BrokerError(
      .accessDenied, "The rules of this broker allow this client other \(member): \(allowed); \(advice).",
      profile: profile, pointer: pointer)
  }
}

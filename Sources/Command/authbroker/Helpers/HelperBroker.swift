import AuthBrokerClient
import BrokerProtocol
import LinuxSystem
import SecretMemory

/// The broker as a helper asks it: the token of an address, by one request, or which target it belongs to.
struct HelperBroker: ~Copyable {
  /// A token, and its target.
  struct Grant {
    /// The target, without scopes and audience: a token that is to be replaced is asked for by ``target(of:)``.
    let target: Target
    /// Its token.
    let token: AccessToken
  }

  private let context: Context
  private let profile: ProfileName?
  private let carrier: BearerToken.Carrier
  private var connection: BlockingConnection

  /// Connects; a broker is started where there is none.
  ///
  /// `carrier` is how the helper's tool sends a token to a target that does not want a password.
  init(_ context: Context, sending carrier: BearerToken.Carrier = .password) throws(CommandFailure) {
    self.carrier = carrier
    let profile = try context.arguments.profile()
    connection = try context.connect()
    self.context = context
    self.profile = profile
  }

  /// The token of the target that an address belongs to, another one than the server has refused; nil where it has none.
  ///
  /// - Parameters:
  ///   - url: the address.
  ///   - refused: the name of the token that was refused.
  ///   - isMeant: whether a target is for the user that the tool asks for.
  /// - Returns: the token and its target.
  /// - Throws: as ``token(for:minValidity:)``; with code 2 for what is no address.
  mutating func grant(
    for url: String, insteadOf refused: String? = nil, where isMeant: (Target) -> Bool = { _ in true }
  ) throws(CommandFailure) -> Grant? {
    if profile == nil, refused == nil {
      var found: AccessToken?
      do throws(CommandFailure) {
        found = try context.call(GetAccessToken.self, .init(url: url), on: &connection)
      } catch {
        if error.error?.kind == .unknownTarget { return nil }
        guard Self.mayBeAnothers(error) else { throw error }
      }
      if let token = found, let target = Target(token.target, of: token.profile, for: url) {
        return isMeant(target) ? Grant(target: target, token: try bearable(token, target)) : nil
      }
    }
    // A broker that knows no addresses has given, or refused, some other token; and no user waits for another's.
    guard let target = try target(of: url), isMeant(target) else { return nil }
    let token = if let refused { try token(insteadOf: refused, for: target) } else { try token(for: target) }
    return Grant(target: target, token: token)
  }

  /// The target that an address belongs to; nil where it has none.
  ///
  /// With `--profile`, every address belongs to that profile that a token may be sent to at all: the broker refuses one
  /// in the clear to another machine.
  mutating func target(of url: String) throws(CommandFailure) -> Target? {
    // A tool that names no server asks by the profile alone.
    if let profile, url.isEmpty { return Target(url: url, profile: profile) }
    let target = try context.call(ListTargets.self, .init(url: url), on: &connection).targets.first
    guard let profile, target?.profile != profile else { return target }
    return Target(url: url, profile: profile)
  }

  /// Every target of the configuration.
  mutating func targets() throws(CommandFailure) -> [Target] {
    try context.call(ListTargets.self, .init(), on: &connection).targets
  }

  /// The token of a target, refreshed first where it would expire too soon.
  ///
  /// - Throws: a failure that names the login, where one is required; one with code 6 for a token that is bound to a
  ///   key.
  mutating func token(for target: Target, minValidity: Duration? = nil) throws(CommandFailure) -> AccessToken {
    let params = GetAccessToken.Params(
      profile: target.profile, minValidity: minValidity, scopes: target.scopes, audience: target.audience)
    return try bearable(try context.call(GetAccessToken.self, params, on: &connection), target)
  }

  /// The token to use in place of one that the server has refused.
  ///
  /// Where the refused one is still current, it is refreshed, once for everyone who reports it.
  mutating func token(insteadOf tokenID: String, for target: Target) throws(CommandFailure) -> AccessToken {
    let params = ReportRejected.Params(
      profile: target.profile, tokenID: tokenID, scopes: target.scopes, audience: target.audience)
    return try bearable(try context.call(ReportRejected.self, params, on: &connection), target)
  }

  /// Reports the token that is given out for a target as refused, so that the next one is another.
  ///
  /// One that has expired is replaced by the question for it already: no server has refused the new one.
  ///
  /// - Parameters:
  ///   - target: the target.
  ///   - given: the token that the tool has; where it is that of now, nothing is reported.
  /// - Returns: whether there is another; nil where nothing was to be reported.
  /// - Throws: as ``token(for:minValidity:)``.
  mutating func replaceToken(of target: Target, unless given: Secret? = nil) throws(CommandFailure) -> Bool? {
    let session = try? context.call(GetSession.self, .init(profile: target.profile), on: &connection).session
    let current = try token(for: target, minValidity: .zero)
    if current.accessToken == given { return nil }
    // That of other scopes or of another audience has an expiry of its own.
    let isOwn = target.scopes == nil && target.audience == nil
    if isOwn, let session, session.accessTokenExpiresAt != current.expiresAt { return true }
    return try token(insteadOf: current.tokenID, for: target).tokenID != current.tokenID
  }

  /// - Throws: a failure with code 6 for a token that the helper's tool could not use.
  private func bearable(_ token: AccessToken, _ target: Target) throws(CommandFailure) -> AccessToken {
    try BearerToken.check(token, for: target.scheme == .basic ? .password : carrier)
    return token
  }

  /// Reports that the server has refused a token, so that the next one is another.
  ///
  /// - Returns: whether there is another; nil where the token was not the target's, or not any more.
  mutating func reject(_ refused: Secret, for target: Target) throws(CommandFailure) -> Bool? {
    let current = try token(for: target)
    let params = ReportRejected.Params(
      profile: target.profile, accessToken: refused, scopes: target.scopes, audience: target.audience)
    let next = try context.call(ReportRejected.self, params, on: &connection)
    return current.accessToken == refused ? next.tokenID != current.tokenID : nil
  }

  /// The ID token of a profile, for tools that ask who the user is.
  ///
  /// - Throws: a failure with code 6 where the profile does not allow it.
  mutating func identityToken(of profile: ProfileName) throws(CommandFailure) -> IdentityToken {
    try context.call(GetIDToken.self, .init(profile: profile), on: &connection)
  }

  /// Another ID token than one that a server has refused: that of another refresh by now, else that of one made now.
  ///
  /// - Returns: the same one where the provider gives no other.
  mutating func identityToken(
    insteadOf refused: Secret, of profile: ProfileName
  ) throws(CommandFailure) -> IdentityToken {
    let current = try identityToken(of: profile)
    guard current.idToken == refused else { return current }
    _ = try context.call(GetAccessToken.self, .init(profile: profile, forceRefresh: true), on: &connection)
    return try identityToken(of: profile)
  }
}

import BrokerCore
import BrokerProtocol

/// How the methods of the embedded provider's owner are answered.
extension Routes {
  /// One route for each of them.
  static let directory: [Route] = [
    .directory(ListLocalUsers.self) { directory, _ throws(ProviderFailure) in
      ListLocalUsers.Result(users: try await directory.users())
    },
    .directory(AddLocalUser.self) { directory, params throws(ProviderFailure) in
      try await directory.addUser(
        Registration(
          email: params.email, password: params.password, name: params.name, phoneNumber: params.phoneNumber))
    },
    .directory(SetLocalUserEnabled.self) { directory, params throws(ProviderFailure) in
      try await directory.setEnabled(params.isEnabled, user: params.user)
    },
    .directory(ResetLocalUser.self) { directory, params throws(ProviderFailure) in
      try await directory.reset(params.user, password: params.password, removesFactor: params.removesSecondFactor)
    },
    .directory(DeleteLocalUser.self) { directory, params throws(ProviderFailure) in
      try await directory.delete(params.user)
      return Empty()
    },
    .directory(ListLocalSessions.self) { directory, params throws(ProviderFailure) in
      ListLocalSessions.Result(sessions: try await directory.sessions(of: params.user))
    },
    .directory(RevokeLocalSessions.self) { directory, params throws(ProviderFailure) in
      RevokeLocalSessions.Result(
        revoked: params.all && params.user == nil && params.session == nil
          ? try await directory.revokeAllSessions()
          : try await directory.revokeSessions(of: params.user, session: params.session))
    },
    .directory(ListLocalMessages.self) { directory, _ throws(ProviderFailure) in
      ListLocalMessages.Result(messages: try await directory.messages())
    },
    .directory(GetLocalKeySet.self) { directory, _ throws(ProviderFailure) in
      GetLocalKeySet.Result(keys: try await directory.keySet())
    },
    .directory(RotateLocalSigningKey.self) { directory, _ throws(ProviderFailure) in
      RotateLocalSigningKey.Result(keys: try await directory.rotateSigningKey())
    },
    .directory(IntrospectLocalToken.self) { directory, params throws(ProviderFailure) in
      try await directory.introspect(params.token)
    },
    .directory(ListLocalAudit.self) { directory, params throws(ProviderFailure) in
      let limit = min(params.limit, ListLocalAudit.largestLimit)
      let log = try await directory.audit(since: params.since, limit: limit)
      return ListLocalAudit.Result(records: log.records, isIntact: log.isIntact)
    },
  ]
}

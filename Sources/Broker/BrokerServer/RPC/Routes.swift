import BrokerCore
package import BrokerProtocol
import JSON
import LinuxSystem
import SecretMemory

/// One request on its way through the server.
struct Request {
  /// Names the request, here and in the broker.
  let caller: CallerID
  /// The connection that it came by.
  let connection: RPCConnection
  /// The principal of the request: its connection's, with the method that it calls.
  var principal: Principal {
    var principal = connection.principal
    principal.method = method
    return principal
  }
  /// The name of the method.
  let method: String
}

/// The handler of one method, and its rules.
struct Route: Sendable {
  /// The method.
  let method: any BrokerMethod.Type
  /// Whether the call never waits for its answer.
  let isAnsweredAtOnce: Bool
  /// Whether the call is for clients that have the state directory.
  var needsProof: @Sendable (JSONNode) -> Bool = { _ in false }
  /// Whether every call is.
  var alwaysNeedsProof = false
  /// Answers, or begins to.
  let run: @Sendable (isolated BrokerServer, JSONNode, Request) throws(BrokerError) -> Void

  /// A method that `run` answers.
  init(
    _ method: any BrokerMethod.Type, isAnsweredAtOnce: Bool = false,
    run: @escaping @Sendable (isolated BrokerServer, JSONNode, Request) throws(BrokerError) -> Void
  ) {
    self.method = method
    self.isAnsweredAtOnce = isAnsweredAtOnce
    self.run = run
  }

  /// Its name.
  var name: String { method.name }

  /// Whether it is served although the broker ends: it can end it sooner.
  var isServedToTheEnd: Bool { name == StopBroker.name || name == Prove.name }

  /// The same method, for clients that have the state directory.
  ///
  /// - Parameter isMeant: whether params make it one of theirs; nil for all of them.
  /// - Returns: the method with that condition.
  func administrative(_ isMeant: (@Sendable (JSONNode) -> Bool)? = nil) -> Route {
    var route = self
    route.needsProof = isMeant ?? { _ in true }
    route.alwaysNeedsProof = isMeant == nil
    return route
  }

  /// A method that the server answers at once.
  static func now<Method: BrokerMethod>(
    _ method: Method.Type,
    _ body: @escaping @Sendable (isolated BrokerServer, Method.Params, Request) throws(BrokerError) -> Method.Result
  ) -> Route {
    Route(method, isAnsweredAtOnce: true) { server, node, request throws(BrokerError) in
      let params: Method.Params = try server.decode(node, request)
      server.succeed(request.caller, try body(server, params, request))
    }
  }

  /// The route of a method that the broker answers, now or later: with the method's result, or with a rendered one.
  static func asked<Method: BrokerMethod, Value: Sendable>(
    _ method: Method.Type, _ need: VaultNeed = .throughout,
    _ body: @escaping @Sendable (isolated Broker, Method.Params, Caller<Value>) throws(BrokerError) -> Void
  ) -> Route {
    Route(method) { server, node, request throws(BrokerError) in
      let params: Method.Params = try server.decode(node, request)
      server.ask(request, need) { broker, caller throws(BrokerError) in try body(broker, params, caller) }
    }
  }

  /// The route of a method that the account directory answers, for clients that have the state directory; it may end
  /// sessions there.
  static func directory<Method: BrokerMethod>(
    _ method: Method.Type,
    _ question:
      @escaping @Sendable (any AccountDirectory, Method.Params) async throws(ProviderFailure) -> (
        Method.Result, EndedSessions?
      )
  ) -> Route {
    Route(method) { server, node, request throws(BrokerError) in
      let params: Method.Params = try server.decode(node, request)
      guard let directory = server.environment.directory() else {
        throw BrokerError(.unsupportedByProvider, "No profile uses the embedded provider.")
      }
      server.ask(request, .throughout) { broker, caller in
        broker.ask(directory, caller) { directory throws(ProviderFailure) in try await question(directory, params) }
      }
    }.administrative()
  }
}

/// The methods of this version.
package enum Methods {
  /// Every method that is served, in the order in which `initialize` and the OpenRPC document list them.
  package static let all = Routes.all.map(\.method)
  /// The names of those that no client calls without a proof.
  package static let needingProof = Set(Routes.all.filter(\.alwaysNeedsProof).map(\.name))
}

/// The table of methods.
enum Routes {
  /// One route for each method; those of the embedded provider's owner come last.
  static let all = common + doors + sockets + audit + consents + directory

  /// The routes of all methods but those of the limited sockets and of the account directory.
  private static let common: [Route] =
    [
      .now(Initialize.self) { server, params, request throws(BrokerError) in try server.initialize(params, request) },
      .now(Ping.self) { _, _, _ in Empty() },
      Route(Discover.self) { server, _, request in server.succeed(request.caller, json: server.rpc.discovery) },
      Route(Shutdown.self) { server, _, request in server.shutdown(request) },
      Route(GetAccessToken.self) { server, node, request throws(BrokerError) in
        let params = try server.named(try server.decode(node, request), request)
        try server.admit(params, request)
        server.ask(request, .throughout) { broker, caller throws(BrokerError) in try broker.accessToken(params, caller)
        }
      },
      .asked(ReportRejected.self) { broker, params, caller throws(BrokerError) in
        try broker.reportRejected(params, caller)
      },
      .asked(SendRequest.self) { broker, params, caller throws(BrokerError) in try broker.sendRequest(params, caller) },
      .asked(QueueRequest.self) { broker, params, caller throws(BrokerError) in
        try broker.queueRequest(params, caller)
      },
      .asked(ListRequests.self) { broker, params, caller throws(BrokerError) in
        try broker.listRequests(params, caller)
      },
      .asked(GetRequest.self) { broker, params, caller throws(BrokerError) in try broker.getRequest(params, caller) },
      .asked(CancelRequest.self) { broker, params, caller throws(BrokerError) in
        try broker.cancelRequest(params, caller)
      },
      .asked(GetIDToken.self) { broker, params, caller throws(BrokerError) in try broker.idToken(params, caller) },
      .asked(CreateProof.self) { broker, params, caller throws(BrokerError) in try broker.createProof(params, caller) },
      .asked(Login.self) { broker, params, caller throws(BrokerError) in try broker.login(params, caller) },
      .asked(VerifyOTP.self) { broker, params, caller throws(BrokerError) in try broker.verifyOTP(params, caller) },
      .asked(ResendOTP.self) { broker, params, caller throws(BrokerError) in try broker.resendOTP(params, caller) },
      .asked(Register.self) { broker, params, caller throws(BrokerError) in try broker.register(params, caller) },
      .asked(VerifyBackupCode.self) { broker, params, caller throws(BrokerError) in
        try broker.verifyBackupCode(params, caller)
      },
      .asked(VerifyEmail.self) { broker, params, caller throws(BrokerError) in try broker.verifyEmail(params, caller) },
      .asked(ForgotPassword.self) { broker, params, caller throws(BrokerError) in
        try broker.forgotPassword(params, caller)
      },
      .asked(ResetPassword.self) { broker, params, caller throws(BrokerError) in
        try broker.resetPassword(params, caller)
      },
      .asked(ChangePassword.self) { broker, params, caller throws(BrokerError) in
        try broker.changePassword(params, caller)
      },
      .asked(UpdateProfile.self) { broker, params, caller throws(BrokerError) in
        try broker.updateProfile(params, caller)
      },
      .asked(GenerateBackupCodes.self) { broker, params, caller throws(BrokerError) in
        try broker.generateBackupCodes(params, caller)
      },
      .asked(DeleteAccount.self) { broker, params, caller throws(BrokerError) in
        try broker.deleteAccount(params, caller)
      },
      .asked(AwaitLogin.self) { broker, params, caller in broker.awaitLogin(params, caller) },
      .asked(CompleteLogin.self) { broker, params, caller throws(BrokerError) in
        try broker.completeLogin(params, caller)
      },
      .asked(CancelLogin.self) { broker, params, caller throws(BrokerError) in try broker.cancelLogin(params, caller) },
      .asked(ListPendingLogins.self) { broker, params, caller throws(BrokerError) in
        try broker.listPendingLogins(params, caller)
      },
      .asked(Reauthenticate.self) { broker, params, caller throws(BrokerError) in
        try broker.reauthenticate(params, caller)
      },
      Route.asked(Logout.self, .atFirst) { broker, params, caller throws(BrokerError) in
        try broker.logout(params, caller)
      }.administrative { params in params["all"]?.kind == .true },
      .asked(GetCurrentUser.self) { broker, params, caller throws(BrokerError) in
        try broker.currentUser(params, caller)
      },
      .now(GetSession.self) { server, params, request throws(BrokerError) in
        let principal = request.principal
        return try server.asked { broker throws(BrokerError) in try broker.session(params.profile, for: principal) }
      },
      .now(ListSessions.self) { server, _, request in
        let principal = request.principal
        return ListSessions.Result(sessions: server.broker.assumeIsolated { $0.sessions(for: principal) })
      },
      .now(ListTargets.self) { server, params, request throws(BrokerError) in try server.targets(params, request) },
      Route(Subscribe.self) { server, node, request throws(BrokerError) in
        // Its answer goes before what was missed: a client never gets an event before its subscription's name.
        let params: Subscribe.Params = try server.decode(node, request)
        let (client, caller) = (request.connection.id, Caller<Subscribe.Result>(request.caller, as: request.principal))
        server.broker.assumeIsolated { $0.subscribe(params, client: client, caller) }
      },
      .now(Unsubscribe.self) { server, params, request throws(BrokerError) in try server.unsubscribe(params, request) },
      .now(GetStatus.self) { server, _, request in server.status(request) },
      Route.now(ListClients.self) { server, params, _ in server.clients(after: params.after) }.administrative(),
      Route.now(ExplainAccess.self) { server, params, request throws(BrokerError) in
        try server.explain(params, request)
      }.administrative(),
      .now(Prove.self) { server, params, request throws(BrokerError) in try server.prove(params, request) },
      Route(ReloadConfiguration.self) { server, _, request in server.reload(request) }.administrative(),
      Route.asked(Lock.self, .never) { broker, _, caller in broker.lock(caller) }.administrative(),
      .asked(Unlock.self, .never) { broker, params, caller in broker.unlock(params, caller) },
      Route.asked(Rekey.self, .never) { broker, params, caller in broker.rekey(params, caller) }.administrative(),
      Route.asked(CheckVault.self, .atFirst) { broker, params, caller in broker.checkVault(params, caller) }
        .administrative(),
      .asked(CheckProviders.self, .never) { broker, params, caller throws(BrokerError) in
        try broker.checkProviders(params, caller)
      },
      .asked(CheckProvider.self, .never) { broker, params, caller throws(BrokerError) in
        try broker.checkProvider(params, caller)
      },
      Route.asked(TryProvider.self, .never) { broker, params, caller throws(BrokerError) in
        try broker.tryProvider(params, caller)
      }.administrative(),
      Route.asked(ContinueTrial.self, .never) { broker, params, caller throws(BrokerError) in
        try broker.continueTrial(params, caller)
      }.administrative(),
      // It waits for the disk at most, and is served however many requests wait.
      Route(StopBroker.self, isAnsweredAtOnce: true) { server, node, request throws(BrokerError) in
        server.stopBroker(try server.decode(node, request), request.caller)
      }.administrative(),
    ]

  /// The route of a name; nil where there is none.
  ///
  /// Only a short name of ASCII is looked up: Swift hashes other strings by their canonical form, which takes long.
  static func named(_ name: String) -> Route? {
    guard name.utf8.count <= longestName, name.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
    return byName[name]
  }

  private static let longestName = all.map(\.name.utf8.count).max() ?? 0
  private static let byName: [String: Route] = Dictionary(all.map { ($0.name, $0) }) { first, _ in first }
}

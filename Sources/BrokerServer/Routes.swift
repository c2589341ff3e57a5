import BrokerCore
import BrokerProtocol
import JSONRPC
import LinuxSystem
import SecretMemory

/// One request on its way through the server.
struct Request: Sendable {
  /// The request's name.
  let key: RequestKey
  /// Where it came from.
  let client: ClientID
}

/// What a method name leads to.
struct Route: Sendable {
  /// The name of the method.
  let name: String
  /// Whether the call is for clients that have the state directory.
  var needsProof: @Sendable (JSONNode) -> Bool = { _ in false }
  /// Answers, or begins to.
  let run: @Sendable (isolated BrokerServer, JSONNode, Request) throws(BrokerError) -> Void

  /// The same method, for clients that have the state directory.
  ///
  /// - Parameter isMeant: whether params make it one of theirs; all do unless it says otherwise.
  /// - Returns: the method with that condition.
  func administrative(_ isMeant: @escaping @Sendable (JSONNode) -> Bool = { _ in true }) -> Route {
    var route = self
    route.needsProof = isMeant
    return route
  }

  /// A method that is answered at once.
  static func now<Method: BrokerMethod>(
    _ method: Method.Type,
    _ body: @escaping @Sendable (isolated BrokerServer, Method.Params, Request) throws(BrokerError) -> Method.Result
  ) -> Route {
    Route(name: Method.name) { server, node, request throws(BrokerError) in
      let params: Method.Params = try server.decode(node, request)
      server.succeed(request.key, try body(server, params, request))
    }
  }

  /// A method that the broker answers when it can.
  static func later<Method: BrokerMethod>(
    _ method: Method.Type,
    _ body: @escaping @Sendable (isolated Broker, Method.Params, @escaping Broker.Reply<Method.Result>) -> Void
  ) -> Route {
    Route(name: Method.name) { server, node, request throws(BrokerError) in
      let params: Method.Params = try server.decode(node, request)
      let reply: Broker.Reply<Method.Result> = { [weak server] result in
        server?.assumeIsolated { $0.answer(request.key, result) }
      }
      server.broker.assumeIsolated { $0.serve(request.client) { body($0, params, reply) } }
    }
  }

  /// A method that needs the vault's key: its turn depends on the connection.
  static func key<Method: BrokerMethod>(
    _ method: Method.Type,
    _ body:
      @escaping @Sendable (isolated Broker, Method.Params, ClientID, @escaping Broker.Reply<Method.Result>) -> Void
  ) -> Route {
    Route(name: Method.name) { server, node, request throws(BrokerError) in
      let params: Method.Params = try server.decode(node, request)
      let reply: Broker.Reply<Method.Result> = { [weak server] result in
        server?.assumeIsolated { $0.answer(request.key, result) }
      }
      server.broker.assumeIsolated { body($0, params, request.client, reply) }
    }
  }

  /// A method that brings a session, and which can be taken back while its provider is asked.
  static func login<Method: BrokerMethod>(
    _ method: Method.Type,
    _ body: @escaping @Sendable (isolated Broker, Method.Params, @escaping Broker.Reply<Method.Result>) -> WaiterID?
  ) -> Route {
    Route(name: Method.name) { server, node, request throws(BrokerError) in
      let params: Method.Params = try server.decode(node, request)
      let reply: Broker.Reply<Method.Result> = { [weak server] result in
        server?.assumeIsolated { $0.answer(request.key, result) }
      }
      let caller = server.broker.assumeIsolated { $0.serve(request.client) { body($0, params, reply) } }
      if let caller { server.requests[request.key]?.login = caller }
    }
  }
}

/// How each of ``Methods`` is answered.
enum Routes {
  /// One route for each method.
  static let all: [Route] =
    [
      .now(Initialize.self) { server, params, _ throws(BrokerError) in try server.initialize(params) },
      .now(Ping.self) { _, _, _ in Empty() },
      Route(name: Discover.name) { server, _, request in server.succeed(request.key, json: server.discovery) },
      Route(name: Shutdown.name) { server, _, request in server.shutdown(request) },
      token(GetAccessToken.self, mayAsk) { broker, params, reply in broker.accessToken(params, reply) },
      token(ReportRejected.self) { broker, params, reply in broker.reportRejected(params, reply) },
      token(GetIDToken.self) { broker, params, reply in broker.idToken(params, reply) },
      .login(Login.self) { broker, params, reply in broker.login(params, reply) },
      waiting(VerifyOTP.self) { broker, params, reply in broker.verifyOTP(params, reply) },
      .later(ResendOTP.self) { broker, params, reply in broker.resendOTP(params, reply) },
      .login(Register.self) { broker, params, reply in broker.register(params, reply) },
      waiting(VerifyBackupCode.self) { broker, params, reply in broker.verifyBackupCode(params, reply) },
      .later(VerifyEmail.self) { broker, params, reply in broker.verifyEmail(params, reply) },
      .later(ForgotPassword.self) { broker, params, reply in broker.forgotPassword(params, reply) },
      .later(ResetPassword.self) { broker, params, reply in broker.resetPassword(params, reply) },
      .later(ChangePassword.self) { broker, params, reply in broker.changePassword(params, reply) },
      .later(UpdateProfile.self) { broker, params, reply in broker.updateProfile(params, reply) },
      .later(DeleteAccount.self) { broker, params, reply in broker.deleteAccount(params, reply) },
      waiting(AwaitLogin.self) { broker, params, reply in broker.awaitLogin(params, reply) },
      .later(CancelLogin.self) { broker, params, reply in broker.cancelLogin(params, reply) },
      .later(ListPendingLogins.self) { broker, params, reply in broker.listPendingLogins(params, reply) },
      .login(Reauthenticate.self) { broker, params, reply in broker.reauthenticate(params, reply) },
      Route.later(Logout.self) { broker, params, reply in broker.logout(params, reply) }
        .administrative { params in params["all"]?.kind == .true },
      .later(GetCurrentUser.self) { broker, params, reply in broker.currentUser(params, reply) },
      .now(GetSession.self) { server, params, _ throws(BrokerError) in try server.session(params) },
      .now(ListSessions.self) { server, _, _ in
        ListSessions.Result(sessions: server.broker.assumeIsolated { $0.sessions })
      },
      Route(name: Subscribe.name) { server, node, request throws(BrokerError) in
        server.subscribe(try server.decode(node, request), request)
      },
      .now(Unsubscribe.self) { server, params, request throws(BrokerError) in
        try server.unsubscribe(params, request)
      },
      .now(GetStatus.self) { server, _, _ in server.status },
      .now(Prove.self) { server, _, request throws(BrokerError) in try server.prove(request) },
      Route(name: ReloadConfiguration.name) { server, _, request in server.reload(request) }.administrative(),
      Route(name: Lock.name) { server, _, request in server.lock(request) }.administrative(),
      .key(Unlock.self) { broker, params, client, reply in broker.unlock(params, from: client, reply) },
      Route.key(Rekey.self) { broker, params, client, reply in
        broker.rekey(params, from: client, reply)
      }.administrative(),
      Route.later(CheckVault.self) { broker, params, reply in broker.checkVault(params, reply) }.administrative(),
      .later(CheckProviders.self) { broker, params, reply in broker.checkProviders(params, reply) },
      .later(CheckProvider.self) { broker, params, reply in broker.checkProvider(params, reply) },
      Route.later(TryProvider.self) { broker, params, reply in broker.tryProvider(params, reply) }.administrative(),
      Route.later(ContinueTrial.self) { broker, params, reply in broker.continueTrial(params, reply) }.administrative(),
      Route(name: StopBroker.name) { server, _, request in server.stopBroker(request) }.administrative(),
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

  /// A method that waits for somebody, and which can be taken back meanwhile.
  private static func waiting<Method: BrokerMethod>(
    _ method: Method.Type,
    _ body: @escaping @Sendable (isolated Broker, Method.Params, @escaping Broker.Reply<Method.Result>) -> WaiterID?
  ) -> Route {
    Route(name: Method.name) { server, node, request throws(BrokerError) in
      let params: Method.Params = try server.decode(node, request)
      let reply: Broker.Reply<Method.Result> = { [weak server] result in
        server?.assumeIsolated { $0.answer(request.key, result) }
      }
      let waiter = server.broker.assumeIsolated { $0.serve(request.client) { body($0, params, reply) } }
      if let waiter { server.requests[request.key]?.waiter = waiter }
    }
  }

  /// Whether a client may ask for something at all.
  private typealias Admission<Params> =
    @Sendable (isolated BrokerServer, Params, Request) throws(BrokerError) -> Void

  private static let mayAsk: Admission<GetAccessToken.Params> = { server, params, request throws(BrokerError) in
    try server.admit(params, request)
  }

  /// A method whose answer is a token, and which can be taken back while it waits.
  private static func token<Method: BrokerMethod>(
    _ method: Method.Type, _ mayAsk: @escaping Admission<Method.Params> = { _, _, _ in },
    _ body: @escaping @Sendable (isolated Broker, Method.Params, @escaping Broker.Reply<Secret>) -> WaiterID?
  ) -> Route {
    Route(name: Method.name) { server, node, request throws(BrokerError) in
      let params: Method.Params = try server.decode(node, request)
      try mayAsk(server, params, request)
      let reply: Broker.Reply<Secret> = { [weak server] result in
        server?.assumeIsolated { server in
          switch result {
          case .success(let json): server.succeed(request.key, rendered: json)
          case .failure(let error): server.fail(request.key, error)
          }
        }
      }
      let waiter = server.broker.assumeIsolated { $0.serve(request.client) { body($0, params, reply) } }
      if let waiter { server.requests[request.key]?.waiter = waiter }
    }
  }
}

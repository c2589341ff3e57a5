import BrokerCore
import BrokerProtocol
import JSON
import JSONRPC
import LinuxSystem
import Logging
import SecretMemory
import Transport

/// The methods that the server answers itself, from its own and the broker's state.
extension BrokerServer {
  /// Reads parameters; unknown members are ignored, so that an older broker serves a newer client.
  func decode<Params: MethodParams>(_ node: JSONNode, _ request: Request) throws(BrokerError) -> Params {
    do throws(JSONMismatch) {
      // What clients send in has a memory of its own: it takes no room that a session needs.
      let params = try SecretScope(arena: .requests).run { () throws(JSONMismatch) in try Params(from: node) }
      nameIgnoredMembers(of: node, Params.self, request)
      return params
    } catch {
      throw BrokerError(error)
    }
  }

  /// Logs ignored parameters: a misspelt one should not be a riddle.
  ///
  /// ``IgnoredParameters`` decides which are named: of the others there is no copy, for such a name may be a secret.
  private func nameIgnoredMembers<Params: MethodParams>(of node: JSONNode, _: Params.Type, _ request: Request) {
    let connection = request.connection
    guard let method = rpc.requests[request.caller]?.method else { return }
    node.forEachMember(besides: rpc.ignoredParameters.names(of: Params.self)) { name, place in
      let (field, goesOn) = rpc.ignoredParameters.note(
        name, at: place, of: method, knownTo: &connection.ignoredNames, BootClock.now)
      if let field {
        let fields = [field, .word("method", method), .number("connection", Int(clamping: connection.id.number))]
        log.write(.info, "ignored a parameter", fields)
      }
      return goesOn
    }
  }

  /// The longest name of a tool that a rule can have, in bytes; a longer one is none.
  private static let longestTool = 256

  /// Introduces the broker.
  func initialize(_ params: Initialize.Params, _ request: Request) throws(BrokerError) -> Initialize.Result {
    if let version = params.protocolVersion, version != Initialize.protocolVersion {
      throw BrokerError(
        .versionUnsupported, "This broker speaks protocol version \(Initialize.protocolVersion).")
    }
    let connection = request.connection
    if connection.tool == nil {
      let name = params.client?.name ?? ""
      connection.tool = name.utf8.count <= Self.longestTool ? name : ""
      connection.audited = nil
      if access.asked.tool { renewPermissions(of: connection) }
    }
    let (types, principal) = (environment.providers, request.principal)
    let (profiles, sessions, sequence, providers) = broker.assumeIsolated { broker in
      (
        broker.profileForms(for: principal), broker.sessions(for: principal), broker.sequence(for: principal),
        types.map { type in
          let abilities = broker.abilities(ofType: type.name, for: principal) ?? type.abilities
          return Initialize.ProviderType(type: type.name, methods: abilities.map(\.rawValue).sorted())
        }
      )
    }
    return Initialize.Result(
      protocolVersion: Initialize.protocolVersion,
      server: Initialize.Program(name: "authbroker", version: environment.version),
      capabilities: Initialize.Capabilities(
        methods: Methods.all.map { $0.name }, events: EventName.allCases.map(\.rawValue),
        framings: [Framing.lines.name, Framing.headers.name], providers: providers),
      profiles: profiles, sessions: sessions, sequence: Int(clamping: sequence))
  }

  /// Lets a client ask for tokens of so many targets in a minute, and no more.
  ///
  /// - Throws: `rateLimited`.
  func admit(_ params: GetAccessToken.Params, _ request: Request) throws(BrokerError) {
    guard
      let wait = request.connection.targets.wait(
        profile: params.profile, scopes: params.scopes ?? [], audience: params.audience, most: limits[.targets],
        at: BootClock.now)
    else { return }
    throw ledger.refuse(.targets, for: wait, of: params.profile)
  }

  /// The status of the broker; counters that show what other clients do are for principals that are shown all profiles.
  func status(_ request: Request) -> GetStatus.Result {
    let principal = request.principal
    let isWhole = principal.shown.isAll
    let vaultFile = isWhole ? environment.vaultFile : nil
    let (profiles, subscriptions, counters, vault, parked, addresses) = broker.assumeIsolated { broker in
      (
        broker.sessions(for: principal), broker.subscriptionCount(for: principal), broker.counters,
        broker.vaultStatus(in: vaultFile), broker.parkedSessions(for: principal), broker.addresses(for: principal)
      )
    }
    return GetStatus.Result(
      version: environment.version, pid: Int(ProcessIdentity.pid), startedAt: rpc.startedAt,
      configurationReadAt: rpc.configurationReadAt,
      uptime: BootClock.now - rpc.startedUptime, vault: vault,
      connections: isWhole ? connectionCount : 1,
      subscriptions: subscriptions, counters: isWhole ? Self.counters(counters) : [],
      limits: isWhole ? ledger.report : [],
      delivery: isWhole ? environment.delivery() : [], authorities: isWhole ? environment.authorities() : [],
      sockets: isWhole ? environment.sockets.list().map { GetStatus.Socket($0) } : [],
      parkedSessions: parked, addresses: addresses, profiles: profiles)
  }

  private static func counters(_ counters: Counters) -> [GetStatus.Counter] {
    [
      ("tokens", counters.tokens), ("refreshes", counters.refreshes), ("refreshFailures", counters.refreshFailures),
      ("logins", counters.logins), ("loginFailures", counters.loginFailures), ("otpSent", counters.otpSent),
      ("otpResent", counters.otpResent), ("lockouts", counters.lockouts), ("events", counters.events),
      ("saves", counters.saves), ("saveFailures", counters.saveFailures),
      ("revocations", counters.revocations), ("pendingRevocations", counters.pendingRevocations),
      ("revocationsGivenUp", counters.revocationsGivenUp),
    ].map { GetStatus.Counter(name: $0.0, value: $0.1) }
  }

  /// Reads the configuration again.
  func reload(_ request: Request) {
    environment.reload { [weak self, caller = request.caller] result in
      self?.assumeIsolated { server in
        switch result {
        case .success(let profiles): server.succeed(caller, ReloadConfiguration.Result(profiles: profiles))
        case .failure(let error): server.fail(caller, error)
        }
      }
    }
  }

  /// Ends this connection, never the broker that others share.
  func shutdown(_ request: Request) {
    succeed(request.caller, Empty())
    request.connection.end(.told)
    flush(request.connection)
  }

  /// Ends the whole broker in order, unless that would lose something; returns the number of awaited answers that come
  /// only once.
  ///
  /// What could not be saved is tried once more first: there may be room on the disk by now.
  func stopBroker(_ params: StopBroker.Params, _ caller: CallerID) {
    guard !params.discardsUnsaved else { return stop(params, caller) }
    broker.assumeIsolated { broker in
      broker.saveUnsaved { [weak self] _ in self?.assumeIsolated { $0.stop(params, caller) } }
    }
  }

  private func stop(_ params: StopBroker.Params, _ caller: CallerID) {
    let unsaved = broker.assumeIsolated { $0.unsavedProfiles }
    guard unsaved.isEmpty || params.discardsUnsaved else {
      let names = unsaved.map(\.description).joined(separator: ", ")
      let error = BrokerError(
        .storeFailed,
        "The vault cannot be written, and the newest state of \(names) would be lost; make the vault writable and try again."
      )
      return fail(caller, error)
    }
    if !end.isDraining { log.notice("stopping on request") }
    drain()
    let awaited = awaitedOnce
    guard params.isImmediate else {
      return succeed(caller, StopBroker.Result(awaited: awaited, atMost: DrainTime.longest))
    }
    if awaited > 0 { log.warning("answers that come only once are not waited for", .number("count", awaited)) }
    // Behind the answer.
    post { $0.endNow() }
    succeed(caller, StopBroker.Result())
  }
}

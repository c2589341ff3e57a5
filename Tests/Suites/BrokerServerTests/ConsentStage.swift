import BrokerCore
import BrokerProtocol
import BrokerServer
import Synchronization
import TestSupport

/// A server whose rule for the profile `default` has the owner asked, with a session, and an administrative watcher.
struct ConsentStage {
  let harness: ServerHarness
  let owner: TestClient

  /// A server with a rule of this kind.
  init(
    _ confirmation: Confirmation = .once, sockets: [String: AccessPolicy.Ceiling] = [:],
    prepare: (ScriptedProvider) -> Void = { _ in }
  ) throws {
    harness = try ServerHarness(profiles: ["default", "shop"], allowsIDToken: true) { provider in
      provider.setIDTokens(.init(lifetime: .seconds(300)))
      prepare(provider)
    }
    owner = try harness.connect()
    _ = owner.ask(LoginStage.line("login", #"{"profile":"default","email":"a@example.test","password":"right"}"#))
    owner.prove()
    set(confirmation, sockets: sockets)
    _ = owner.ask(LoginStage.line("subscribe", #"{"events":["consentRequested"]}"#))
  }

  /// Applies a rule of this kind to all clients of the profile.
  func set(_ confirmation: Confirmation, sockets: [String: AccessPolicy.Ceiling] = [:]) {
    let profiles = ["default"].compactMap(ProfileName.init)
    let allowance = Allowance(confirmation: confirmation)
    let rules =
      [AccessPolicy.Rule(ClientPattern(), profiles: profiles, allowance)]
      + sockets.keys.sorted().map { .init(ClientPattern(socket: $0), profiles: profiles, allowance) }
    let server = harness.server
    let table = AccessTable(
      AccessPolicy(rules: rules, sockets: sockets), profiles: ["default", "shop"].compactMap(ProfileName.init))
    server.assumeIsolated { $0.setAccess(table) }
    harness.settle()
  }

  /// A client whose process is a command of the agent with this number.
  func command(of agent: Int32 = 50, _ name: String = "git", as socket: String? = nil) throws -> TestClient {
    let client = try socket.map { try harness.connect(as: .limited($0)) } ?? harness.connect()
    let now = harness.clock.uptime
    func link(_ pid: Int32, age: Int, _ command: String) -> ProcessLink {
      ProcessLink(.init(pid, startedAt: now - .seconds(age)), isOwners: true, command: command)
    }
    harness.ancestries.set(
      [
        link(client.process, age: 0, name), link(agent, age: 600, "agent"), link(20, age: 700, "zsh"),
        link(10, age: 800, "terminal"),
      ], of: client.process)
    return client
  }

  /// Asks for the token, without waiting for the answer.
  func want(_ client: TestClient, _ params: String = "{}", id: Int = 9) -> String {
    client.askBare(LoginStage.line("getAccessToken", params, id)).joined()
  }

  /// Calls a method as the owner.
  func call(_ method: String, _ params: String = "{}") -> String {
    owner.askBare(LoginStage.line(method, params, 5)).filter { $0.contains(#""id":5"#) }.joined()
  }

  /// The handles of the questions that wait, in order.
  var questions: [String] {
    call("listConsents").split(separator: #""consentId":""#).dropFirst().map { String($0.prefix { $0 != "\"" }) }
  }

  /// Answers the oldest question.
  func answer(_ isAllowed: Bool, _ more: String = "") -> String {
    call("answerConsent", #"{"consentId":"\#(questions.first ?? "none")","allow":\#(isAllowed)\#(more)}"#)
  }

  /// Lets time pass, and everything happen that follows from it.
  func wait(_ seconds: Double) {
    harness.clock.advance(by: .seconds(seconds))
    harness.settle()
  }
}

/// The processes of a test's clients, as the kernel would tell of them.
final class AncestryBox: Sendable {
  private let chains = Mutex<[Int32: [ProcessLink]]>([:])

  func set(_ chain: [ProcessLink], of process: Int32) { chains.withLock { $0[process] = chain } }

  func chain(of process: Int32) -> [ProcessLink] { chains.withLock { $0[process] ?? [] } }
}

/// How questions to the owner have ended, in order.
final class Decisions: Sendable {
  private let decisions = Mutex<[ConsentDecision]>([])

  func add(_ decision: ConsentDecision) { decisions.withLock { $0.append(decision) } }

  var all: [ConsentDecision] { decisions.withLock { $0 } }
}

import TestSupport
import Testing

@testable import BrokerCore

/// The subject that a plain consent is for, and the clients that are part of one.
@Suite(.standardTimeLimit) struct ConsentSubjectTests {
  private static let now = Duration.seconds(1000)

  private static func link(_ pid: Int32, age: Int, isOwners: Bool = true, _ command: String? = nil) -> ProcessLink {
    ProcessLink(
      .init(pid, startedAt: now - .seconds(age)), isOwners: isOwners, command: command, isManager: pid == 1 || pid == 2)
  }

  private static func client(_ chain: [ProcessLink], unit: String? = nil) -> ConsentClient {
    ConsentClient(
      connection: ClientID(7), AccessClient(socket: nil, user: 1000, isOwner: true, unit: unit), chain: chain)
  }

  private static func words(_ subject: ConsentSubject) -> String {
    switch subject {
    case .process(let id): "process \(id.pid)"
    case .ancestor(let id): "ancestor \(id.pid)"
    case .unit(let unit, _, _): unit
    case .socket(let socket): "socket \(socket ?? "-")"
    case .connection(let client): "connection \(client?.number ?? 0)"
    }
  }

  @Test(
    arguments: [
      // A process and its ancestors, its unit, and the subject.
      ([link(9, age: 0), link(8, age: 0), link(7, age: 60), link(5, age: 900), link(2, age: 900)], nil, "ancestor 7"),
      (
        [link(9, age: 0), link(8, age: 59), link(7, age: 70), link(5, age: 900), link(1, age: 1000)], nil, "ancestor 7"
      ),
      // A terminal emulator, a multiplexer or a daemon comes from the manager itself.
      ([link(9, age: 0), link(7, age: 900), link(2, age: 900), link(1, age: 1000)], nil, "process 9"),
      ([link(9, age: 0), link(7, age: 900), link(1, age: 1000)], nil, "process 9"),
      ([link(9, age: 0), link(2, age: 900), link(1, age: 1000)], nil, "process 9"),
      // The oldest that can be read has a parent that cannot.
      ([link(9, age: 0), link(7, age: 900)], nil, "process 9"),
      // Another user's is passed over.
      (
        [link(9, age: 0), link(8, age: 90, isOwners: false), link(7, age: 90), link(5, age: 900), link(1, age: 1000)],
        nil, "ancestor 7"
      ),
      (
        [link(9, age: 0), link(7, age: 90), link(5, age: 90), link(2, age: 90)], "user/app-code-1.scope",
        "user/app-code-1.scope"
      ),
      ([link(9, age: 0), link(7, age: 90), link(5, age: 90), link(2, age: 90)], "app-code-1.scope", "ancestor 7"),
      (
        [link(9, age: 0), link(7, age: 90), link(5, age: 90), link(2, age: 90)], "user/vte-spawn-1.scope", "ancestor 7"
      ),
      (
        [link(9, age: 0, "ssh"), link(7, age: 90), link(5, age: 90), link(2, age: 90)], "user/app-code-1.scope",
        "process 9"
      ),
      ([], nil, "connection 7"),
    ] as [([ProcessLink], String?, String)])
  func `a plain consent is for the nearest ancestor that stands for one thing`(
    _ chain: [ProcessLink], _ unit: String?, _ expected: String
  ) {
    let client = Self.client(chain, unit: unit)
    #expect(Self.words(client.defaultSubject(isRemembered: true, at: Self.now)) == expected)
    let own = chain.first.map { "process \($0.id.pid)" } ?? "connection 7"
    #expect(Self.words(client.defaultSubject(isRemembered: false, at: Self.now)) == own)
  }

  @Test
  func `a client belongs to its process, its ancestors, its unit, its socket, and to no other of the same number`() {
    let client = Self.client([Self.link(9, age: 0), Self.link(7, age: 90)], unit: "a.service")
    let ssh = Self.client([Self.link(9, age: 0, "ssh"), Self.link(7, age: 90)], unit: "a.service")
    for (subject, isPart, isForwardedPart) in [
      (.process(Self.link(9, age: 0).id), true, true), (.process(Self.link(9, age: 1).id), false, false),
      (.process(Self.link(7, age: 90).id), false, false), (.ancestor(Self.link(7, age: 90).id), true, false),
      (.ancestor(Self.link(9, age: 0).id), true, false), (.ancestor(Self.link(7, age: 91).id), false, false),
      (.unit("a.service", user: 1000, socket: nil), true, false), (.socket(nil), true, false),
      (.unit("user/a.service", user: 1000, socket: nil), false, false),
      (.unit("a.service", user: 1001, socket: nil), false, false),
      (.unit("a.service", user: 1000, socket: "ci"), false, false),
      (.socket("ci"), false, false), (.connection(ClientID(7)), false, false),
    ] as [(ConsentSubject, Bool, Bool)] {
      #expect(subject.includes(client) == isPart, "\(subject)")
      #expect(subject.includes(ssh) == isForwardedPart, "\(subject)")
    }
    #expect(ConsentSubject.connection(ClientID(7)).includes(Self.client([])))
    #expect(!ConsentSubject.connection(ClientID(8)).includes(Self.client([])))
  }
}

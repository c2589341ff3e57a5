import BrokerCore
import LinuxSystem
import TestSupport
import Testing
import Transport

@testable import BrokerServer

/// Where a connection stands: each event in each state.
@Suite(.standardTimeLimit) struct ConnectionTests {
  typealias State = Connection.State

  enum Event: CaseIterable {
    case begin, stir, release, holdForOutput, holdForTurn, inputEnds, told, closing, close, restsAtMessage
  }

  private final class SilentStream: ClientStream {
    func read(into buffer: inout [UInt8], upTo limit: Int) -> IOResult { .wouldBlock }
    func write(_ bytes: Span<UInt8>) -> IOResult { .wouldBlock }
    func attach(to loop: EventLoop, _ connection: Connection) throws(Errno) {}
    func setInterest(reading: Bool, writing: Bool, on loop: EventLoop) {}
    func close(on loop: EventLoop) {}
  }

  private static func connection(after events: [Event]) -> Connection {
    let principal = Principal(client: ClientID(1), process: nil)
    let connection = RPCConnection(
      ClientID(1), principal, SilentStream(), .pair, ReadyConnections(), messageByteLimit: 1 << 20)
    for event in events { apply(event, to: connection) }
    return connection
  }

  private static func apply(_ event: Event, to connection: Connection) {
    switch event {
    case .begin: connection.begin()
    case .stir: connection.stir()
    case .release: connection.hold(for: nil)
    case .holdForOutput: connection.hold(for: .output)
    case .holdForTurn: connection.hold(for: .turn)
    case .inputEnds: connection.end(.inputEnded)
    case .told: connection.end(.told)
    case .closing: connection.end(.closing)
    case .close: connection.close()
    case .restsAtMessage: _ = connection.becomesPlain([UInt8(ascii: "{")].span)
    }
  }

  /// A state, and what each event makes of it, in the order of ``Event``; nil where it stays.
  struct Row: Sendable {
    let path: [Event]
    let state: State
    let next: [State?]
  }

  private static let ended = State.draining(.inputEnded, nil)
  private static let table = [
    Row(
      path: [], state: .opening,
      next: [.framed, nil, nil, nil, nil, ended, .draining(.told, nil), .draining(.closing, nil), .closed, nil]),
    Row(
      path: [.begin], state: .framed,
      next: [
        nil, nil, nil, .heldUp(.output), .heldUp(.turn), ended, .draining(.told, nil), .draining(.closing, nil),
        .closed, .plain,
      ]),
    Row(
      path: [.begin, .restsAtMessage], state: .plain,
      next: [
        nil, .framed, .framed, .heldUp(.output), .heldUp(.turn), ended, .draining(.told, nil), .draining(.closing, nil),
        .closed, nil,
      ]),
    Row(
      path: [.begin, .holdForTurn], state: .heldUp(.turn),
      next: [
        nil, nil, .framed, .heldUp(.output), nil, .draining(.inputEnded, .turn), .draining(.told, .turn),
        .draining(.closing, .turn), .closed, nil,
      ]),
    Row(
      path: [.begin, .holdForTurn, .inputEnds], state: .draining(.inputEnded, .turn),
      next: [
        nil, nil, ended, .draining(.inputEnded, .output), nil, nil, .draining(.told, .turn), .draining(.closing, .turn),
        .closed, nil,
      ]),
    Row(
      path: [.begin, .told], state: .draining(.told, nil),
      next: [
        nil, nil, nil, .draining(.told, .output), .draining(.told, .turn), nil, nil, .draining(.closing, nil), .closed,
        nil,
      ]),
    Row(
      path: [.begin, .closing], state: .draining(.closing, nil),
      next: [nil, nil, nil, .draining(.closing, .output), .draining(.closing, .turn), nil, nil, nil, .closed, nil]),
    Row(path: [.begin, .close], state: .closed, next: [nil, nil, nil, nil, nil, nil, nil, nil, nil, nil]),
  ]

  @Test(arguments: table)
  func `each event leads from a state where the table says`(_ row: Row) {
    #expect(Self.connection(after: row.path).state == row.state)
    for (event, next) in zip(Event.allCases, row.next) {
      let state = Self.connection(after: row.path + [event]).state
      #expect(state == next ?? row.state, "\(row.state), \(event)")
    }
  }

  @Test(arguments: table)
  func `a connection is read until it drains, and answered at once at rest alone`(_ row: Row) {
    let connection = Self.connection(after: row.path)
    let isEnding =
      switch row.state {
      case .draining, .closed: true
      case .opening, .plain, .framed, .heldUp: false
      }
    #expect(connection.mayRead == !isEnding)
    #expect(connection.isAtRest == (!isEnding && connection.hold == nil))
    connection.output.bytes = [1]
    let becomesPlain = connection.becomesPlain([UInt8(ascii: "{")].span)
    #expect(!connection.isAtRest && !becomesPlain)
  }

  @Test func `what is no beginning of a message is not answered at once`() {
    let connection = Self.connection(after: [.begin])
    for text in ["", " ", "[", "C", "\u{FEFF}{"] {
      let bytes = Array(text.utf8)
      let becomesPlain = connection.becomesPlain(bytes.span)
      #expect(!becomesPlain, "\(text)")
    }
    #expect(connection.state == .framed)
  }
}

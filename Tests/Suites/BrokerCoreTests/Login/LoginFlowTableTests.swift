import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

/// Every event in every state of a pending login: what is done, and where it stands then.
@Suite(.standardTimeLimit) struct LoginFlowTableTests {
  /// One cell: state, event, actions, the state after it.
  struct Cell: Sendable, CustomTestStringConvertible {
    let stage: String
    let event: String
    let actions: [String]
    let next: String

    var testDescription: String { "\(stage) × \(event)" }
  }

  /// What events do that change nothing; each state lists only what differs.
  private static let idle: [String: String] = [
    "resumed": "", "codeGiven": "refuse flowNotFound", "codeAccepted": "revoke", "codeRefused": "",
    "resendWanted": "refuse flowNotFound", "resent": "", "resendFailed": "", "stillPending": "",
    "actionDone": "revoke",
    "callerLeft": "", "actionFailed": "", "actionUnproven": "", "woken": "", "ended": "end cancelled told > over",
    "detached": "detach vaultLocked > over",
  ]

  private static let differences: [String: [String: String]] = [
    "awaitingCode": [
      "codeGiven": "check > checkingCode", "resendWanted": "resend", "actionDone": "revoke",
    ],
    "checkingCode": [
      "codeGiven": "", "codeAccepted": "accept 1 > accepting",
      "codeRefused": "refuse otpInvalid, keep loginFailed > awaitingCode", "resendWanted": "resend",
      "ended": "refuse cancelled, end cancelled told > over",
      "detached": "refuse vaultLocked, detach vaultLocked > over",
    ],
    "resting": ["actionDone": "accept > accepting", "woken": "poll > asking"],
    "asking": [
      "stillPending": " > resting", "actionDone": "accept > accepting",
      "actionFailed": "end consentDenied told > over", "actionUnproven": "end networkUnavailable told > over",
    ],
    "listening": [
      "actionDone": "stopListening, accept > accepting",
      "actionFailed": "stopListening, end consentDenied told > over",
      "actionUnproven": "stopListening, end networkUnavailable told > over",
      "ended": "stopListening, end cancelled told > over", "detached": "stopListening, detach vaultLocked > over",
    ],
    "accepting": [:],
    "over": ["resumed": " > awaitingCode", "ended": "", "detached": ""],
  ]

  static let cells: [Cell] = differences.keys.sorted().flatMap { stage in
    idle.keys.sorted().map { event in
      let text = differences[stage]?[event] ?? idle[event] ?? ""
      let halves = text.split(separator: ">", omittingEmptySubsequences: false).map { half in
        half.split(separator: ",").map { $0.split(separator: " ").joined(separator: " ") }.filter { !$0.isEmpty }
      }
      return Cell(
        stage: stage, event: event, actions: halves.first ?? [], next: halves.count > 1 ? halves[1].joined() : stage)
    }
  }

  private static func event(_ name: String) -> LoginFlow.Event {
    switch name {
    case "resumed": .resumed
    case "codeGiven": .codeGiven(CodeGuess(2, FlowSample.code))
    case "callerLeft": .callerLeft(1)
    case "codeAccepted": .codeAccepted(guess: 1)
    case "codeRefused": .codeRefused(guess: 1, .refused(.otpInvalid))
    case "resendWanted": .resendWanted(caller: 7)
    case "resent": .resent(FlowSample.provided)
    case "resendFailed": .resendFailed(.transient(.networkUnavailable))
    case "stillPending": .stillPending(slowsDown: false)
    case "actionDone": .actionDone
    case "actionFailed": .actionFailed(.refused(.consentDenied))
    case "actionUnproven": .actionUnproven(.transient(.networkUnavailable))
    case "woken": .woken
    case "ended": .ended(.of(.cancelled), isTold: true)
    default: .detached(.vaultLocked)
    }
  }

  @Test(arguments: cells)
  func `each event in each state`(_ cell: Cell) {
    var flow = FlowSample.flow(in: cell.stage)
    #expect(FlowSample.name(flow.stage) == cell.stage)
    // Late enough for the next question, early enough for the code.
    let now = FlowSample.time(40)
    let actions = flow.handle(Self.event(cell.event), at: now)
    #expect(actions.map(FlowSample.name) == cell.actions)
    #expect(FlowSample.name(flow.stage) == cell.next)
  }

  @Test func `the table has every state and every event`() {
    #expect(Self.cells.count == 7 * 15)
    #expect(Set(Self.cells.map(\.stage)).count == 7)
  }
}

import BrokerCore
import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

/// Every event in every state of a pending login: what is done, and where it stands then.
@Suite(.standardTimeLimit) struct LoginMachineTableTests {
  /// One cell: state, event, actions, the state after it.
  struct Cell: Sendable, CustomTestStringConvertible {
    let state: String
    let event: String
    let actions: [String]
    let next: String

    var testDescription: String { "\(state) × \(event)" }
  }

  /// What events do that change nothing; each state lists only what differs.
  private static let common: [String: String] = [
    "resumed": "", "codeGiven": "refuse flowNotFound", "callerLeft": "", "codeAccepted": "revoke",
    "codeUnproven": "revoke", "codeByOther": "revoke", "codeToKeep": "revoke",
    "codeRefused": "", "resendWanted": "refuse flowNotFound",
    "resent": "", "resendFailed": "", "stillPending": "", "actionDone": "revoke", "actionUnproven": "revoke",
    "actionByOther": "revoke", "actionToKeep": "revoke", "actionFailed": "", "addressRefused": "", "woken": "",
    "brokerEnding": "",
    "ended": "end cancelled told > over", "detached": "detach vaultLocked > over",
  ]

  private static let differences: [String: [String: String]] = [
    "idle": ["resumed": " > awaitingCode"],
    "awaitingCode": ["codeGiven": "check > checkingCode", "resendWanted": "resend > awaitingCode resending"],
    "awaitingCode resending": [
      "codeGiven": "check > checkingCode resending", "resendWanted": "refuse resendTooSoon",
      "resent": "keep otpResent 9 > awaitingCode", "resendFailed": "refuse networkUnavailable > awaitingCode",
      "ended": "refuse cancelled, end cancelled told > over",
      "detached": "refuse vaultLocked, detach vaultLocked > over",
    ],
    "checkingCode": [
      "codeGiven": "", "codeAccepted": "accept 1 > accepting",
      "codeUnproven": "revoke, refuse networkUnavailable, end networkUnavailable told > over",
      "codeByOther": "revoke, refuse accessDenied, end accessDenied told > over",
      "codeToKeep": "revoke, refuse reauthRequired, end reauthRequired told > over",
      "codeRefused": "refuse otpInvalid, keep loginFailed > awaitingCode",
      "resendWanted": "resend > checkingCode resending",
      "ended": "refuse cancelled, end cancelled told > over",
      "detached": "refuse vaultLocked, detach vaultLocked > over",
    ],
    "checkingCode resending": [
      "codeGiven": "", "codeAccepted": "accept 1, refuse flowNotFound > accepting",
      "codeUnproven": "revoke, refuse networkUnavailable, end networkUnavailable told > over",
      "codeByOther": "revoke, refuse accessDenied, refuse accessDenied, end accessDenied told > over",
      "codeToKeep": "revoke, refuse reauthRequired, end reauthRequired told > over",
      "codeRefused": "refuse otpInvalid, keep loginFailed > awaitingCode resending",
      "resendWanted": "refuse resendTooSoon", "resent": "keep otpResent 9 > checkingCode",
      "resendFailed": "refuse networkUnavailable > checkingCode",
      "ended": "refuse cancelled, end cancelled told > over",
      "detached": "refuse vaultLocked, detach vaultLocked > over",
    ],
    "resting": [
      "actionDone": "accept > accepting", "woken": "poll > polling", "brokerEnding": "detach shuttingDown > over",
    ],
    "polling": [
      "stillPending": " > resting", "actionDone": "accept > accepting",
      "actionUnproven": "revoke, end networkUnavailable told > over",
      "actionByOther": "revoke, end accessDenied told > over",
      "actionToKeep": "revoke, end reauthRequired told > over", "actionFailed": "end consentDenied told > over",
      "brokerEnding": "refuseWaiting shuttingDown",
    ],
    "listening": [
      "actionDone": "stopListening, accept > accepting",
      "actionUnproven": "revoke, stopListening, end networkUnavailable told > over",
      "actionByOther": "revoke, stopListening, end accessDenied told > over",
      "actionToKeep": "revoke, stopListening, end reauthRequired told > over",
      "actionFailed": "stopListening, end consentDenied told > over",
      "brokerEnding": "stopListening, detach shuttingDown > over",
      "ended": "stopListening, end cancelled told > over", "detached": "stopListening, detach vaultLocked > over",
    ],
    "accepting": [:],
    "over": ["ended": "", "detached": ""],
  ]

  static let cells: [Cell] = LoginSample.states.flatMap { state in
    common.keys.sorted().map { event in
      let text = differences[state]?[event] ?? common[event] ?? ""
      let halves = text.split(separator: ">", omittingEmptySubsequences: false).map { half in
        half.split(separator: ",").map { $0.split(separator: " ").joined(separator: " ") }.filter { !$0.isEmpty }
      }
      return Cell(
        state: state, event: event, actions: halves.first ?? [], next: halves.count > 1 ? halves[1].joined() : state)
    }
  }

  private static func event(_ name: String) -> LoginMachine.Event {
    let (caller, failure) = (LoginSample.caller(1), ProviderFailure.transient(.networkUnavailable))
    return switch name {
    case "resumed": .resumed
    case "codeGiven": .codeGiven(CodeGuess(LoginSample.caller(2), LoginSample.code))
    case "callerLeft": .callerLeft(caller)
    case "codeAccepted": .codeAccepted(guess: caller, .given)
    case "codeUnproven": .codeAccepted(guess: caller, .unknown(failure))
    case "codeByOther": .codeAccepted(guess: caller, .otherUser)
    case "codeToKeep": .codeAccepted(guess: caller, .replacesAnother)
    case "codeRefused": .codeRefused(guess: caller, .refused(.otpInvalid))
    case "resendWanted": .resendWanted(caller: LoginSample.caller(7))
    case "resent": .resent(LoginSample.provided)
    case "resendFailed": .resendFailed(failure)
    case "stillPending": .stillPending(slowsDown: false)
    case "actionDone": .actionDone(.given)
    case "actionUnproven": .actionDone(.unknown(failure))
    case "actionByOther": .actionDone(.otherUser)
    case "actionToKeep": .actionDone(.replacesAnother)
    case "actionFailed": .actionFailed(.refused(.consentDenied))
    case "addressRefused": .addressRefused
    case "woken": .woken
    case "brokerEnding": .brokerEnding
    case "ended": .ended(.of(.cancelled), isTold: true)
    default: .detached(.vaultLocked)
    }
  }

  @Test(arguments: cells)
  func `each event in each state`(_ cell: Cell) {
    var machine = LoginSample.machine(in: cell.state)
    #expect(LoginSample.name(machine.state) == cell.state)
    // Late enough for the next question, early enough for the code.
    let now = LoginSample.time(40)
    let actions = machine.handle(Self.event(cell.event), at: now)
    #expect(actions.map(LoginSample.name) == cell.actions)
    #expect(LoginSample.name(machine.state) == cell.next)
  }

  @Test func `the table has every state and every event`() {
    #expect(Self.cells.count == 10 * 22)
    #expect(Set(Self.cells.map(\.state)).count == 10)
  }
}

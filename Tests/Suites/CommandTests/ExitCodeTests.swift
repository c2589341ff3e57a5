import AuthBrokerClient
import BrokerProtocol
import ClientSocket
import LinuxSystem
import TestSupport
import Testing

@testable import authbroker

@Suite(.standardTimeLimit) struct ExitCodeTests {
  /// What a script may rely on; every kind that is not named here ends with 1.
  private static let table: [(ExitCode, [ErrorKind])] = [
    (
      .usage,
      [
        .parseError, .invalidRequest, .messageTooLarge, .methodNotFound, .invalidParams, .missingCredential,
        .unknownProfile,
      ]
    ),
    (.loginRequired, [.loginRequired, .sessionExpired, .challengePending, .reauthRequired, .flowNotFound]),
    (
      .wrongCredentials,
      [
        .invalidCredentials, .otpInvalid, .otpExpired, .backupCodeInvalid, .tooManyAttempts, .accountLocked,
        .emailUnverified, .wrongPassphrase,
      ]
    ),
    (
      .providerUnavailable,
      [
        .networkUnavailable, .timeout, .providerUnavailable, .rateLimited, .providerRejected, .invalidResponse,
        .tlsFailed, .tlsPinMismatch, .deadlineExceeded, .refreshOutcomeUnknown,
      ]
    ),
    (.accessDenied, [.accessDenied, .consentDenied, .forbidden, .insufficientScope]),
    (.vault, [.vaultLocked, .vaultTampered, .storeFailed, .keySourceUnavailable]),
    (.brokerUnreachable, [.shuttingDown]),
  ]

  @Test(arguments: ErrorKind.allCases)
  func `every kind of error has its exit code`(kind: ErrorKind) {
    let expected = Self.table.first { $0.1.contains(kind) }?.0 ?? .failure
    #expect(ExitCode(kind) == expected)
    #expect(CommandFailure(.broker(BrokerError(kind))).exitCode == expected)
  }

  @Test(arguments: [("fixConfig", 1), ("contactProvider", 5)] as [(String, Int32)])
  func `a provider that refuses what is configured is no outage`(action: String, code: Int32) throws {
    let scratch = Scratch()
    let owner = try FakeOwner(in: scratch) { _, _ in
      #""error":{"code":1044,"message":"No.","data":{"kind":"providerRejected","nextAction":"\#(action)","#
        + #""retryable":false}}"#
    }
    let run = try CommandRun(["token"], in: scratch)
    #expect(run.code == code, "\(run.errors)")
    #expect(owner.requests.count == 1)
  }

  @Test func `the numbers are those of the contract`() {
    let numbers = Self.table.map(\.0.rawValue)
    #expect(numbers == [2, 3, 4, 5, 6, 7, 8])
    #expect(ExitCode.success.rawValue == 0)
    #expect(ExitCode.failure.rawValue == 1)
  }

  @Test func `a broker that cannot be had is 8, unless it said why`() {
    #expect(ExitCode(.notRunning(socket: "/s", startable: true)) == .brokerUnreachable)
    #expect(ExitCode(.noDaemon(path: "/d", .noEntry)) == .brokerUnreachable)
    #expect(ExitCode(.startRefused(code: "vaultTampered", reason: "")) == .vault)
    #expect(ExitCode(.startRefused(code: "configInvalid", reason: "")) == .failure)
    #expect(ExitCode(.startRefused(code: "pathRefused", reason: "")) == .failure)
    #expect(ExitCode(.startLock(.failed("/s/start.lock", .accessDenied))) == .failure)
    #expect(ExitCode(.otherConfiguration(owner: nil, wanted: "/c")) == .failure)
    #expect(ExitCode(.otherState(owner: "/a", wanted: "/b", socket: "/s")) == .failure)
    #expect(CommandFailure(.connectionLost).exitCode == .brokerUnreachable)
    #expect(CommandFailure(.timedOut).exitCode == .brokerUnreachable)
  }

  @Test(arguments: Session.State.allCases)
  func `a session's state has its exit code`(state: Session.State) {
    let expected: ExitCode =
      switch state {
      case .authenticated, .refreshing, .offline: .success
      case .signedOut, .challengePending, .expired: .loginRequired
      case .locked: .vault
      }
    #expect(ExitCode(state) == expected)
  }

  @Test func `an error says what to type next, and no control character of it reaches the terminal`() {
    var login = BrokerError(.sessionExpired, "The session\u{1B}[31m has ended.")
    login.profile = ProfileName("work")
    #expect(Self.text(of: login) == "the session?[31m has ended; log in with: authbroker login --profile work")
    var refused = BrokerError(.providerRejected)
    refused.nextAction = .login
    #expect(Self.text(of: refused).hasSuffix("; log in with: authbroker login"))
    var busy = BrokerError(.rateLimited)
    busy.retryAfter = .milliseconds(1500)
    #expect(Self.text(of: busy).hasSuffix("; try again in 2 s"))
    let invalid = BrokerError(.configInvalid, "config.json:3: lingerSecs is unknown")
    #expect(Self.text(of: invalid) == "config.json:3: lingerSecs is unknown; see: authbroker config check")
    var missing = BrokerError(.missingCredential)
    missing.fields = ["email", "password"]
    #expect(Self.text(of: missing) == "the provider requires a credential that was not given: email, password")
    for kind in [ErrorKind.providerRejected, .invalidResponse, .tlsFailed, .networkUnavailable, .unsupportedByProvider]
    {
      var error = BrokerError(kind)
      error.profile = ProfileName("work")
      #expect(Self.text(of: error).hasSuffix(": authbroker provider-check work"))
    }
    #expect(Self.text(of: BrokerError(.unknownProfile)).hasSuffix("; name one with --profile"))
    var waiting = BrokerError(.challengePending)
    waiting.action = UserAction(
      loginFlowID: "f", profile: .default, kind: .browser, verificationURI: "https://a.example",
      expiresAt: Timestamp(milliseconds: 0))
    #expect(Self.text(of: waiting).hasSuffix("; wait for it with: authbroker login --flow f"))
    let mistaken = BrokerError(.configInvalid, "Look at issuer.", profile: ProfileName("work"))
    #expect(Self.text(of: mistaken) == "look at issuer; see what is wrong with: authbroker provider-check work")
  }

  private static func text(of error: BrokerError) -> String { Advice.message(for: error).text(for: nil) }
}

import BrokerCore
import BrokerProtocol
import LinuxSystem
import ProviderKit
import SecretMemory
import TestSupport
import Testing

/// The trial that an integrator runs on a backend, run on every provider: what it holds to is what the core relies on.
@Suite(.standardTimeLimit) struct TrialTests {
  /// Runs a trial to its end, as the broker does, and gives what it found.
  private func findings(
    _ candidate: Candidate, _ rules: SessionRules = SessionRules(), replaysToken: Bool = false,
    triesWrongPassword: Bool = false
  ) async -> [ProviderFinding] {
    var options = TrialOptions()
    options.replaysToken = replaysToken
    options.triesWrongPassword = triesWrongPassword
    var trial = ProviderTrial(of: candidate.provider, rules, candidate.credentials, options)
    var findings = trial.begin(at: now)
    while case .ask(let request) = trial.order {
      if let pause = request.pause { try? await Task.sleep(for: pause) }
      findings += trial.take(await ProviderTrial.ask(candidate.provider, request), at: now)
    }
    return findings
  }

  private var now: Timestamp { Timestamp(milliseconds: WallClock.milliseconds) }

  private func level(_ check: TrialStage, _ findings: [ProviderFinding]) -> ProviderFinding.Level? {
    findings.first { $0.check == check.rawValue }?.level
  }

  @Test(arguments: Candidate.Kind.allCases)
  func `every provider passes the trial, and a session of the account lives on beside it`(
    _ kind: Candidate.Kind
  ) async throws {
    try await Candidate.run(kind) { candidate in
      let other = try await candidate.session()
      let findings = await findings(candidate, triesWrongPassword: true)
      #expect(findings.filter { $0.level == .failure } == [])
      for stage in [TrialStage.wrongPassword, .login, .user, .refresh, .rotation, .refreshAgain] {
        #expect(level(stage, findings) == .ok, "\(stage): \(findings)")
      }
      #expect(findings.first { $0.check == "token.lifetime" }?.level == .ok)
      #expect(level(.logout, findings) == (candidate.revokes ? .ok : .warning))
      #expect(level(.refreshAfterLogout, findings) == (candidate.revokes ? .ok : .skipped))
      #expect(level(.reuse, findings) == nil, "only where somebody asks for it")
      #expect(try await candidate.provider.refresh(try #require(other.tokens.refreshToken)).accessTokenExpiresAt != nil)
    }
  }

  @Test(arguments: Candidate.Kind.allCases)
  func `a spent refresh token is refused wherever refresh tokens rotate`(_ kind: Candidate.Kind) async throws {
    try await Candidate.run(kind) { candidate in
      let findings = await findings(candidate, replaysToken: true)
      #expect(level(.reuse, findings) == (candidate.rotates ? .ok : .skipped), "\(findings)")
      #expect(findings.filter { $0.level == .failure } == [])
    }
  }

  @Test(arguments: Candidate.Kind.allCases)
  func `settings that do not fit what a provider does are named`(_ kind: Candidate.Kind) async throws {
    try await Candidate.run(kind) { candidate in
      let wrong: Rotation = candidate.rotates ? .never : .always
      let found = await findings(candidate, SessionRules(rotation: wrong, rotationGrace: .seconds(10)))
        .filter { $0.check == "rotation" }
      #expect(found.first?.level == (candidate.rotates ? .failure : .warning))
      #expect(found.first?.advice?.contains(candidate.rotates ? #"rotation: "always""# : #"rotation: "never""#) == true)
      #expect(found.contains { $0.message.contains("rotationGraceSeconds") } == !candidate.rotates)
    }
  }

  @Test(arguments: Candidate.Kind.allCases)
  func `wrong credentials are the only failure, and everything behind them is skipped`(
    _ kind: Candidate.Kind
  ) async throws {
    try await Candidate.run(kind) { candidate in
      var candidate = candidate
      candidate.credentials.password = try Secret(utf8: "a-wrong-password")
      let findings = await findings(candidate)
      #expect(findings.filter { $0.level == .failure }.map(\.errorKind) == [.invalidCredentials])
      #expect(findings.dropFirst().allSatisfy { $0.level == .skipped } && findings.count > 5)
    }
  }

  @Test(arguments: Candidate.Kind.allCases)
  func `a look without credentials finds nothing wrong`(_ kind: Candidate.Kind) async throws {
    try await Candidate.run(kind) { candidate in
      let findings = await candidate.provider.examine()
      #expect(findings.filter { $0.level == .failure } == [])
      #expect(findings.first?.check == "reachable" && findings.first?.level == .ok && findings.count > 2)
    }
  }

  @Test(arguments: Candidate.Kind.remote)
  func `an address where nothing listens is all that a look finds`(_ kind: Candidate.Kind) async throws {
    try await Candidate.run(kind) { candidate in
      let unreachable = try #require(candidate.unreachable)
      let alone = await unreachable.examine()
      #expect(alone.map(\.check) == ["reachable"] && alone.first?.errorKind == .networkUnavailable)
      #expect(alone.first?.advice?.contains("Nothing answers") == true)
    }
  }
}

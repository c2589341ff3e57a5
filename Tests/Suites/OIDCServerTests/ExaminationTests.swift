import BrokerCore
import BrokerProtocol
import JSON
import LinuxSystem
import ProviderKit
import SecretMemory
import TestSupport
import Testing

@testable import OIDCProvider

/// A close look at a real server, and a trial of it, where the profile has a mistake.
@Suite(.standardTimeLimit) struct ExaminationTests {
  private var now: Timestamp { Timestamp(milliseconds: WallClock.milliseconds) }

  private func trial(_ provider: OIDCProvider, _ method: LoginMethod = .password) async throws -> [ProviderFinding] {
    let credentials =
      method == .password
      ? Credentials(email: "alice", password: try Secret(utf8: "alice-password")) : Credentials(method: method)
    var trial = ProviderTrial(of: provider, SessionRules(), credentials, TrialOptions())
    var findings = trial.begin(at: now)
    while case .ask(let request) = trial.order {
      findings += trial.take(await ProviderTrial.ask(provider, request), at: now)
    }
    return findings
  }

  @Test func `a slash too many in the issuer is named with the line to change`() async throws {
    try await Party.run { party in
      let issuer = try #require(party.places["issuer"])
      let found = await (try party.provider { $0.issuer = issuer + "/" }).examine()
      let finding = try #require(found.first { $0.level == .failure })
      #expect(finding.check == "issuer" && finding.message.contains("slash"))
      #expect(finding.advice == "In the profile's section write: issuer: \"\(issuer)\"")
    }
  }

  @Test func `the wrong password of a client is a failure of the login that names the settings`() async throws {
    try await Party.run { party in
      for authentication in [OIDCDialect.ClientAuthentication.basic, .post] {
        let provider = try party.provider("confidential", secret: "wrong", authentication)
        #expect(await provider.examine().filter { $0.level == .failure }.map(\.check) == ["client"])
        let login = try #require(try await trial(provider).first { $0.check == "login" })
        #expect(login.level == .failure && login.errorKind == .providerRejected)
        #expect(login.advice?.contains("clientSecret") == true)
      }
      let provider = try party.provider("confidential", secret: party.places["clientSecret"], .basic)
      #expect(await provider.examine().contains { $0.check == "client" && $0.level == .ok })
      #expect(try await trial(provider).filter { $0.level == .failure } == [])
    }
  }

  @Test func `a client that logs in by itself passes without a user and without a refresh`() async throws {
    try await Party.run { party in
      let provider = try party.provider("machine", secret: party.places["clientSecret"], .basic, scopes: ["read"])
      let found = try await trial(provider, .clientCredentials)
      #expect(found.filter { $0.level == .failure || $0.level == .warning } == [])
      #expect(found.first { $0.check == "logout" }?.level == .ok)
      #expect(try await party.ledger("revoke").count == 1)
    }
  }

  @Test func `a trial leaves nothing at the server that is still good`() async throws {
    try await Party.run { party in
      let found = try await trial(try party.provider())
      #expect(found.filter { $0.level == .failure } == [])
      for check in ["login", "user", "refresh", "refreshAgain", "logout", "accessAfterLogout", "refreshAfterLogout"] {
        #expect(found.first { $0.check == check }?.level == .ok, "\(check): \(found)")
      }
      #expect(try await party.control("/revoke").required("ended").integer() == 0)
    }
  }
}

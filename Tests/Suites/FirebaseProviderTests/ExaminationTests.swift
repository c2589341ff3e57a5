import BrokerCore
import BrokerProtocol
import ConfigurationFile
import ProviderKit
import TestSupport
import Testing

@testable import FirebaseProvider

/// What a close look at a project finds without credentials.
@Suite(.standardTimeLimit) struct ExaminationTests {
  @Test func `a project that is well is found to be so`() async throws {
    try await Project.run { project in
      let found = await project.provider.examine()
      #expect(found.map(\.check) == ["reachable", "clock", "service.token", "apiKey"])
      #expect(found.allSatisfy { $0.level == .ok }, "\(found)")
      _ = try await project.session()
    }
  }

  @Test func `a key that is refused is a failure that names the setting`() async throws {
    try await Project.run(apiKey: "another-key") { project in
      let key = try #require(await project.provider.examine().last)
      #expect(key.check == "apiKey" && key.level == .failure && key.errorKind == .providerRejected)
      #expect(key.advice?.contains("apiKey") == true && !key.message.contains("another-key"))
    }
  }

  @Test(arguments: [nil, "http://127.0.0.1:1"])
  func `a key that cannot be had is found, also where nobody answers`(_ baseURL: String?) async throws {
    let missing: SecretFinder = { reference in
      .failure(.credentialMissing(MissingCredential(reference.name, "it is empty", kind: .configInvalid)))
    }
    try await Project.run(secrets: missing, baseURL: baseURL) { project in
      let found = await project.provider.examine()
      #expect(found.first?.level == (baseURL == nil ? .ok : .failure))
      let key = try #require(found.last)
      #expect(key.check == "apiKey" && key.level == .failure && key.errorKind == .configInvalid)
      #expect(key.message.contains("cannot be used") && key.advice != nil)
    }
  }

  @Test func `of a key that can be had nothing is said where nobody answers`() async throws {
    try await Project.run(baseURL: "http://127.0.0.1:1") { project in
      let found = await project.provider.examine()
      #expect(found.map(\.level) == [.failure] && !"\(found)".contains("demo-api-key"))
    }
  }

  @Test(arguments: [
    (503, "{}", "application/json", ErrorKind.providerUnavailable), (200, "<html>", "text/html", .invalidResponse),
  ])
  func `an answer of somebody else says nothing of the key`(
    _ status: Int, _ body: String, _ type: String, _ kind: ErrorKind
  ) async throws {
    try await Project.run { project in
      try await project.answer("lookup", status, body, type: type)
      let key = try #require(await project.provider.examine().last)
      #expect(key.check == "apiKey" && key.level == .warning && key.errorKind == kind, "\(key)")
    }
  }
}

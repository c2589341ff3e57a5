import BrokerProtocol
import Testing

@testable import FirebaseProvider

/// What a close look at a project finds without credentials.
struct ExaminationTests {
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

import Configuration
import ConfigurationFile
import ProviderKit
import TestSupport
import Testing

/// What a person who sets up a profile is asked, and where the profile goes.
@Suite(.standardTimeLimit) struct ProviderQuestionTests {
  @Test(arguments: [
    ("local", []), ("rest", ["baseUrl"]), ("oidc", ["issuer", "clientId"]),
    ("keycloak", ["baseUrl", "realm", "clientId"]), ("auth0", ["domain", "clientId"]), ("google", ["clientId"]),
    ("microsoft", ["clientId"]), ("github", ["clientId"]), ("gitlab", ["clientId"]), ("mcp", ["resource"]),
    ("firebase", ["apiKey"]), ("static", ["secret"]),
  ])
  func `what a profile needs is asked`(type: String, required: [String]) throws {
    let provider = try #require(ProviderType.all.first { $0.name == type })
    #expect(provider.questions.filter(\.isRequired).map(\.key) == required)
    #expect(!provider.title.isEmpty)
  }

  @Test func `where a client or a key is needed, it is said how it is got`() throws {
    for type in ProviderType.all {
      let needs = type.questions.contains { ["clientId", "apiKey"].contains($0.key) }
      #expect((type.registration != nil) == needs && type.registration?.steps.isEmpty != true, "\(type.name)")
      let address = type.registration?.address
      #expect(address == nil || address?.hasPrefix("https://") == true || address?.hasPrefix("${baseUrl") == true)
    }
  }

  @Test(arguments: [
    ("google", ["clientSecret"], nil), ("github", ["clientSecret"], nil),
    ("microsoft", ["redirectUri"], "http://localhost:0/"), ("auth0", ["redirectUri"], "http://127.0.0.1:8400/callback"),
    ("oidc", ["clientSecret", "redirectUri"], nil),
  ])
  func `what a profile may do without is asked where its client has it, with the reason`(
    type: String, keys: [String], redirect: String?
  ) throws {
    let questions = try #require(ProviderType.all.first { $0.name == type }).questions
    let asked = questions.filter { $0.isAsked && ["clientSecret", "redirectUri"].contains($0.key) }
    #expect(asked.map(\.key) == keys && asked.allSatisfy { $0.reason != nil })
    #expect(questions.first { $0.key == "redirectUri" }?.value == redirect)
  }

  @Test func `every question is in words, and a secret is marked`() {
    for type in ProviderType.all {
      for question in type.questions {
        #expect(question.text != question.key && !question.text.isEmpty, "\(type.name): \(question.key)")
        #expect(question.isSecret == ["clientSecret", "apiKey", "secret"].contains(question.key))
      }
    }
  }

  @Test(
    arguments: [
      ("{profiles:{a:{}}}", 11, true), ("// {\n{ /* { */ profiles : /* x */ {\n} }", 35, true), ("{}", 1, false),
      (" { lingerSeconds: 1 }", 2, false),
    ] as [(String, Int, Bool)])
  func `a profile goes behind the brace of its section`(text: String, offset: Int, isInSection: Bool) throws {
    let place = try #require(ConfigurationPlace(in: Array(text.utf8), of: "profiles"))
    #expect(place.offset == offset && place.isInSection == isInSection, "\(place)")
    #expect(Array(text.utf8)[place.offset - 1] == UInt8(ascii: "{"))
  }

  @Test(arguments: ["", "[]", "{profiles: []}", "{profiles: ", "profiles"])
  func `there is no place in what is no such object`(text: String) {
    #expect(ConfigurationPlace(in: Array(text.utf8), of: "profiles") == nil)
  }
}

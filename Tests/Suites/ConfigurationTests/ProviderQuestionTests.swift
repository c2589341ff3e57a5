import Configuration
import ConfigurationFile
import TestSupport
import Testing

/// What a person who sets up a profile is asked, and where the profile goes.
@Suite(.standardTimeLimit) struct ProviderQuestionTests {
  @Test(arguments: [
    ("local", []), ("rest", ["baseUrl"]), ("oidc", ["issuer", "clientId"]),
    ("keycloak", ["baseUrl", "realm", "clientId"]), ("auth0", ["domain", "clientId"]), ("google", ["clientId"]),
    ("microsoft", ["clientId"]), ("github", ["clientId"]), ("gitlab", ["clientId"]), ("firebase", ["apiKey"]),
  ])
  func `what a profile needs is asked`(type: String, required: [String]) throws {
    let provider = try #require(ProviderType.all.first { $0.name == type })
    #expect(provider.questions.filter(\.isRequired).map(\.key) == required)
    #expect(!provider.title.isEmpty)
  }

  @Test func `every question is in words, and a secret is marked`() {
    for type in ProviderType.all {
      for question in type.questions {
        #expect(question.text != question.key && !question.text.isEmpty, "\(type.name): \(question.key)")
        #expect(question.isSecret == ["clientSecret", "apiKey"].contains(question.key))
      }
    }
  }

  @Test(
    arguments: [
      ("{profiles:{a:{}}}", 11, true), ("// {\n{ /* { */ profiles : /* x */ {\n} }", 35, true), ("{}", 1, false),
      (" { lingerSeconds: 1 }", 2, false),
    ] as [(String, Int, Bool)])
  func `a profile goes behind the brace of its section`(text: String, offset: Int, isInProfiles: Bool) throws {
    let place = try #require(ConfigurationPlace(in: Array(text.utf8)))
    #expect(place.offset == offset && place.isInProfiles == isInProfiles, "\(place)")
    #expect(Array(text.utf8)[place.offset - 1] == UInt8(ascii: "{"))
  }

  @Test(arguments: ["", "[]", "{profiles: []}", "{profiles: ", "profiles"])
  func `there is no place in what is no such object`(text: String) {
    #expect(ConfigurationPlace(in: Array(text.utf8)) == nil)
  }
}

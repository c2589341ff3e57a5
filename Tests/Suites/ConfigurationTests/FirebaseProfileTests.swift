import Configuration
import ConfigurationFile
import FirebaseProvider
import HTTP
import JSON
import ProviderKit
import TestSupport
import Testing

/// Profiles on a Firebase project.
@Suite(.standardTimeLimit) struct FirebaseProfileTests {
  private func profile(_ text: String) throws -> FirebaseProfileConfiguration? {
    let bytes = Array("{profiles:{default:{\(text)}}}".utf8)
    let configuration = try BrokerConfiguration.parse(bytes, file: "c", environment: [:])
    guard case .remote(let remote) = configuration.profiles[0].provider else { return nil }
    return remote as? FirebaseProfileConfiguration
  }

  private func problem(_ text: String) -> String? {
    do {
      _ = try profile(text)
      return nil
    } catch {
      return "\(error)"
    }
  }

  @Test func `a project is named by its key, wherever that is`() throws {
    let plain = try #require(try profile("provider:'firebase',apiKey:{env:'FIREBASE_API_KEY'}"))
    #expect(plain.apiKey == SecretReference("apiKey", .environment("FIREBASE_API_KEY")) && plain.baseURL == nil)
    let emulator = "provider:'firebase',apiKey:{file:'/run/key'},baseUrl:'http://127.0.0.1:9099'"
    let own = try #require(try profile(emulator))
    #expect(own.apiKey.place == .file("/run/key") && own.baseURL?.origin == "http://127.0.0.1:9099")
    let bytes = Array("{profiles:{default:{\(emulator)}}}".utf8)
    let configuration = try BrokerConfiguration.parse(bytes, file: "c", environment: [:])
    #expect(configuration.profiles[0].provider.type == "firebase")
  }

  @Test func `a key in the configuration itself, and a server that could listen in, are refused`() {
    let problems = [
      ("provider:'firebase'", "missing key \"apiKey\""),
      ("provider:'firebase',apiKey:'AIza-made-up'", "a secret must not stand"),
      ("provider:'firebase',apiKey:{env:'K'},baseUrl:'http://example.com'", "https://"),
      ("provider:'firebase',apiKey:{env:'K'},clientId:'x'", "unknown key \"clientId\""),
      ("provider:'rest',baseUrl:'https://h.example',apiKey:{env:'K'}", "unknown key \"apiKey\""),
    ]
    for (text, expected) in problems {
      #expect(problem(text)?.contains(expected) == true, "\(text)")
      #expect(problem(text)?.contains("AIza") != true)
    }
  }
}

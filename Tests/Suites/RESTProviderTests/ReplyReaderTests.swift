import BrokerCore
import BrokerProtocol
import JSON
import ProviderKit
import SecretMemory
import TestSupport
import Testing

@testable import RESTProvider

@Suite(.standardTimeLimit) struct ReplyReaderTests {
  @Test(arguments: [
    #"{"tokens":{"access":"a","refresh":"r"},"user":{"id":"u"}}"#,
    #"{"accessToken":{"token":"a","expiresAt":"2027-01-15T08:15:00Z","scopes":["x"]},"refreshToken":{"token":"r"}}"#,
    #"{"access_token":"a","refresh_token":"r","token_type":"bearer","expires_in":60,"scope":"x"}"#,
    #"{"accessToken":"a","refreshToken":"r","tokenType":"BEARER","expiresIn":60,"scope":"x"}"#,
  ])
  func `every shape has its tokens`(_ json: String) throws {
    let tokens = try #require(try reader(json).tokens())
    #expect(tokens.accessToken.value.revealedString() == "a" && tokens.refreshToken?.value.revealedString() == "r")
  }

  @Test(arguments: [
    "{}", "[]", #"{"access_token":""}"#, #"{"access_token":1}"#, #"{"access_token":"a b"}"#, #"{"access_token":"a\n"}"#,
    #"{"access_token":"ä"}"#, #"{"access_token":"a","token_type":"mac"}"#, #"{"access_token":"a","token_type":[]}"#,
    #"{"access_token":"a","refresh_token":-1}"#, #"{"access_token":"a","refresh_token":["r"]}"#,
    #"{"access_token":"a","refresh_token":"r\u0000"}"#, #"{"tokens":"a"}"#, #"{"accessToken":{"token":{}}}"#,
  ])
  func `what is no usable token gives none`(_ json: String) throws {
    #expect(try reader(json).tokens() == nil)
  }

  @Test(
    arguments: [
      (#""refresh_token":false"#, nil), (#""refresh_token":0"#, nil), (#""refresh_token":{}"#, nil),
      (#""refresh_token":7"#, "7"), (#""refreshToken":7,"token_type":1"#, "7"),
      (#""refresh_token":"r","token_type":"""#, "r"), (#""refresh_token":"r","tokenType":"Bearer ""#, "r"),
    ] as [(String, String?)])
  func `what says nothing costs no token`(_ members: String, _ expected: String?) throws {
    let tokens = try #require(try reader(#"{"access_token":"a",\#(members)}"#).tokens())
    #expect(tokens.refreshToken?.value.revealedString() == expected)
  }

  @Test(arguments: [
    (#""read write""#, ["read", "write"]), (#"["read","write"]"#, ["read", "write"]), (#""""#, []), ("null", []),
    ("1", []), ("{}", []), (#"["read",1,null,"a\"b","ä","",{}]"#, ["read"]),
    (#""  read   write ""#, ["read", "write"]),
  ])
  func `scopes are words`(_ scope: String, _ expected: [String]) throws {
    #expect(try reader(#"{"access_token":"a","scope":\#(scope)}"#).tokens()?.scopes == expected)
  }

  @Test(
    arguments: [
      (
        #"{"user":{"id":"u","email":"a@b.example","emailVerified":true,"name":"Ann","phoneNumber":"+15550100123"}}"#,
        User(id: "u", email: "a@b.example", emailVerified: true, name: "Ann", phoneNumberMasked: "+•••••••••23")
      ),
      (#"{"user":{"id":7}}"#, User(id: "7")), (#"{"user":{"userId":"u"}}"#, User(id: "u")),
      (#"{"user":{"id":"u","email":1,"emailVerified":"yes","name":null,"phoneNumber":[]}}"#, User(id: "u")),
      (#"{"user":{"id":"u\u001b[2J"}}"#, nil), (#"{"user":{"id":""}}"#, nil), (#"{"user":{"id":1.5}}"#, nil),
      (#"{"user":[]}"#, nil), (#"{"id":"u"}"#, nil), (#"{"user":{"name":"Ann"}}"#, nil),
      (#"{"user":{"id":"u","name":"\u202eAnn\u0007\u200b","email":"\u0000"}}"#, User(id: "u", name: "Ann")),
    ] as [(String, User?)])
  func `an account is fit to be seen`(_ json: String, _ user: User?) throws {
    #expect(try reader(json).user(orRoot: false) == user)
  }

  @Test func `the whole reply is the account where it is about nothing else`() throws {
    #expect(try reader(#"{"id":"u"}"#).user(orRoot: true) == User(id: "u"))
    #expect(try reader(#"{"id":"other","user":{"id":"u"}}"#).user(orRoot: true) == User(id: "u"))
    #expect(try reader(#"{"success":true}"#).user(orRoot: true) == nil)
  }

  @Test func `a challenge says what it says, and the rest is usual`() throws {
    let short = try #require(try reader(#"{"requires2FA":true,"otpFlowId":"f"}"#).challenge(allowsBackupCodes: false))
    #expect(short.expiresAt == sentAt + .seconds(300) && short.nextResendAt == sentAt + .seconds(30))
    #expect(short.otpLength == 6 && short.attemptsRemaining == 5 && !short.backupCodesAllowed && short.method == .sms)
    let long = try #require(
      try reader(
        """
        {"requires2FA":true,"otpFlowId":12345,"maskedEmail":"ann@example.com","otpLength":8,"expiresInSeconds":60,
         "nextAllowedAt":"2027-01-15T08:01:00Z","attemptsRemaining":3,"backupCodesAllowed":true}
        """
      ).challenge(allowsBackupCodes: true))
    #expect(long.flow.revealedString() == "12345" && long.method == .email && long.backupCodesAllowed)
    #expect(long.maskedDestination == "a•••@example.com" && long.otpLength == 8 && long.attemptsRemaining == 3)
    #expect(long.expiresAt == sentAt + .seconds(60) && long.nextResendAt == sentAt + .seconds(60))
    let absurd = try #require(
      try reader(
        #"{"otpFlowId":"f","otpLength":1e300,"expiresInSeconds":-1,"nextAllowedAt":"9999-01-01T00:00:00Z","attemptsRemaining":-5}"#
      ).challenge(allowsBackupCodes: true))
    #expect(absurd.otpLength == 6 && absurd.expiresAt == short.expiresAt && absurd.nextResendAt == short.nextResendAt)
    #expect(absurd.attemptsRemaining == 5)
  }

  @Test(arguments: [
    (#"{"requires2FA":true}"#, true), (#"{"requires2FA":"true"}"#, true), (#"{"requires2FA":1}"#, true),
    (#"{"otpFlowId":"f"}"#, true), (#"{"requires2FA":false,"access_token":"a"}"#, false),
    (#"{"otpFlowId":"f","access_token":"a"}"#, false), (#"{"requires2FA":null}"#, false), ("{}", false),
    (#"{"requires2FA":true,"access_token":"a"}"#, true),
  ])
  func `a code is wanted where that is said`(_ json: String, _ isWanted: Bool) throws {
    #expect(try reader(json).asksForCode == isWanted)
  }

  @Test(arguments: [
    ("otpFlowId", #""""#), ("otpFlowId", "null"), ("otpFlowId", "true"), ("otpFlowId", "1.5"), ("x", "1"),
  ])
  func `a challenge without a handle is none`(_ name: String, _ value: String) throws {
    #expect(try reader("{\"requires2FA\":true,\"\(name)\":\(value)}").challenge(allowsBackupCodes: true) == nil)
  }

  // A reply is never trusted: whatever a backend sends, reading it ends, and never traps.
  @Test func `20,000 damaged replies are read without a trap`() throws {
    var random = SeededGenerator(seed: 0x5E55_1075)
    let good = [
      #"{"tokens":{"access":"a.e30.c","refresh":"r"},"user":{"id":"u","email":"a@b.example","phoneNumber":"+155501"}}"#,
      #"{"accessToken":{"token":"a","expiresAt":"2027-01-15T08:15:00Z","scopes":["x"]},"refreshToken":{"token":"r","expiresAt":1800000900}}"#,
      #"{"access_token":"a","refresh_token":"r","token_type":"bearer","expires_in":3600,"scope":"x y"}"#,
      #"{"requires2FA":true,"otpFlowId":"f","maskedPhone":"+15550100123","otpLength":6,"expiresInSeconds":300}"#,
      #"{"error":"invalid_credentials","attemptsRemaining":3,"nextAllowedAt":"2027-01-15T08:15:00Z","errors":{"email":["x"]}}"#,
      #"{"type":"https://e.example/problems/locked","status":423,"violations":[{"field":"email"},{"propertyPath":"x"}]}"#,
    ].map { Array($0.utf8) }
    let pieces = [
      "1e308", "-1", "9223372036854775807", "null", "[]", "{}", "\"\\u202e\"", "\"\"", "true", "[[[[", "\\ud800", ",",
      "\"",
    ]
    .map { Array($0.utf8) }
    var parsed = 0
    for round in 0..<20_000 {
      var bytes = round % 10 == 9 ? randomBytes(&random) : good.randomElement(using: &random) ?? []
      for _ in 0..<Int.random(in: 0...4, using: &random) where !bytes.isEmpty {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(contentsOf: pieces.randomElement(using: &random) ?? [], at: place)
        default: replaceValue(&bytes, near: place, with: pieces.randomElement(using: &random) ?? [])
        }
      }
      if let document = try? JSONDocument(parsing: bytes) {
        parsed += 1
        readEverything(document.root)
      }
    }
    #expect(parsed > 2000)
  }

  private func randomBytes(_ random: inout SeededGenerator) -> [UInt8] {
    (0..<Int.random(in: 0...64, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
  }

  /// Puts something in the place of what follows the next colon, which leaves most texts well-formed.
  private func replaceValue(_ bytes: inout [UInt8], near place: Int, with piece: [UInt8]) {
    guard let colon = bytes[place...].firstIndex(of: UInt8(ascii: ":")) else { return }
    let end = bytes[colon...].firstIndex { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "}") } ?? bytes.endIndex
    bytes.replaceSubrange((colon + 1)..<end, with: piece)
  }

  private func readEverything(_ root: JSONNode) {
    let moments = ReplyMoments(sentAt: sentAt, receivedAt: sentAt, serverTime: nil)
    let reader = ReplyReader(root: root, paths: RESTMapping.standard.reply, moments: moments)
    _ = (try? reader.tokens(), reader.user(orRoot: true), reader.asksForCode, reader.waitsForVerification)
    if let challenge = try? reader.challenge(allowsBackupCodes: true) { _ = try? reader.restarting(challenge) }
    var refusal = Refusal(status: 400, form: .json)
    refusal.words = RefusalWords(root)
    refusal.read(reader, RESTMapping.standard.errors)
    for name in RESTEndpoint.Name.allCases { _ = RefusalTable.failure(refusal, name, .standard) }
  }
}

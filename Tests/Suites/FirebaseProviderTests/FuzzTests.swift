import BrokerCore
import BrokerProtocol
import JSON
import ProviderKit
import SecretMemory
import TestServers
import TestSupport
import Testing

@testable import FirebaseProvider
@testable import HTTP

/// Replies that are no replies: reading them gives a value or a failure, and never traps.
@Suite(.standardTimeLimit) struct FuzzTests {
  private static let replies = [
    #"{"kind":"identitytoolkit#VerifyPasswordResponse","localId":"l","email":"ann@example.com","displayName":"Ann","#
      + #""idToken":"fake-id","registered":true,"refreshToken":"fake-refresh","expiresIn":"3600"}"#,
    #"{"expires_in":"3600","token_type":"Bearer","refresh_token":"fake-refresh","id_token":"fake-id","#
      + #""user_id":"l","project_id":"1"}"#,
    #"{"users":[{"localId":"l","email":"ann@example.com","emailVerified":true,"phoneNumber":"+15550100123"}]}"#,
    #"{"mfaPendingCredential":"fake","mfaInfo":[{"mfaEnrollmentId":"e","totpInfo":{}},{"phoneInfo":"+*1"}]}"#,
    #"{"error":{"code":400,"message":"WEAK_PASSWORD : x","status":"S","details":[{"reason":"API_KEY_INVALID"}]}}"#,
  ]

  @Test(arguments: replies)
  func `a reply that is cut or bent is read or refused`(_ reply: String) throws {
    let bytes = Array(reply.utf8)
    for end in 0...bytes.count { read(Array(bytes[..<end])) }
    let bends: [UInt8] = [0x00, 0x22, 0x5B, 0x7B, 0x7D, 0x2C, 0x39, 0x2D, 0x6E, 0x80, 0xFF]
    for index in bytes.indices {
      for bend in bends {
        var bent = bytes
        bent[index] = bend
        read(bent)
      }
    }
  }

  /// What a reply to a call comes to; nil where it is read.
  private func failure(_ call: FirebaseCall, _ status: Int, _ body: [UInt8], _ lines: String = "")
    async -> ProviderFailure?
  {
    var (lines, body) = (Array(lines.utf8), body)
    let response = HTTPResponse(status: status, lines: WipedBytes(taking: &lines), body: WipedBytes(taking: &body))
    let reply = FirebaseReply(
      call, carriesToken: call == .lookup, response, sentAt: moments.sentAt, receivedAt: moments.receivedAt)
    do throws(ProviderFailure) {
      _ = try await reply.read { reader throws(SecretMemoryExhausted) in
        call == .lookup ? reader.foundUser().map { _ in true } : try reader.tokens().map { _ in true }
      }
      return nil
    } catch {
      return error
    }
  }

  @Test func `a success that is too much, too deep, cut or no JSON is invalid, and at a refresh keeps the session`()
    async
  {
    let deep = Array(#"{"id_token":"#.utf8) + [UInt8](repeating: UInt8(ascii: "["), count: 500_000)
    let huge = Array(#"{"id_token":"#.utf8) + [UInt8](repeating: 0x20, count: 1 << 20)
    let bodies: [[UInt8]] = [
      deep, huge, [], [0xFF, 0xFE], Array("<html>".utf8), Array("null".utf8), Array("[]".utf8), Array("{}".utf8),
      Array("{\"id_token\":\"\u{0}\"}".utf8), [0x7B, 0x22, 0xC0, 0x80, 0x22, 0x3A, 0x31, 0x7D],
      Array(#"{"id_token":"x"#.utf8),
      Array(#"{"users":{"localId":"l"}}"#.utf8), Array(#"{"users":[7]}"#.utf8), Array(#"{"users":[]}"#.utf8),
    ]
    for body in bodies {
      // A page is that of a network which wants a login first.
      let isPage = body.starts(with: "<html>".utf8)
      let expected: ProviderFailure = isPage ? .transient(.invalidResponse) : .refused(.invalidResponse)
      for call in [FirebaseCall.signInWithPassword, .lookup] {
        #expect(await failure(call, 200, body) == expected, "\(call) \(body.prefix(20))")
      }
      // The code may be used up.
      #expect(await failure(.finishSecondFactor, 200, body) == .outcomeUnknown(.invalidResponse), "\(body.prefix(20))")
      let refresh = await failure(.token, 200, body)
      #expect(refresh == .transient(.invalidResponse) || refresh == .outcomeUnknown(.invalidResponse))
    }
  }

  @Test func `a gateway that has lost the answer to a code may have passed the code on`() async {
    for status in [502, 504, 520, 524, 598, 599] {
      #expect(await failure(.finishSecondFactor, status, []) == .outcomeUnknown(.providerUnavailable))
      #expect(await failure(.signInWithPassword, status, []) == .transient(.providerUnavailable))
    }
    #expect(await failure(.finishSecondFactor, 503, []) == .transient(.providerUnavailable))
  }

  @Test func `both tokens without an error are taken whatever status they come with`() async {
    let body = Array(#"{"id_token":"a","refresh_token":"r"}"#.utf8)
    for status in [204, 302, 400, 403, 500, 502, 503, 599] {
      for call in [FirebaseCall.token, .signInWithPassword, .signUp, .finishSecondFactor] {
        #expect(await failure(call, status, body) == nil, "\(call) \(status)")
      }
      #expect(await failure(.token, status, Array(#"{"id_token":"a"}"#.utf8)) != nil)
      let refused = Array(#"{"id_token":"a","refresh_token":"r","error":{"message":"TOKEN_EXPIRED"}}"#.utf8)
      #expect(await failure(.token, status, refused) != nil)
    }
  }

  @Test func `2,000 replies of random bytes are turned into something`() async {
    var random = SystemRandomNumberGenerator()
    let starts = ["", "{", "[", "<", #"{"error":"#, #"{"error":{"message":""#, #"{"id_token":"#, "\u{0}"]
    for _ in 0..<2000 {
      let noise = (0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      let body = Array((starts.randomElement(using: &random) ?? "").utf8) + noise
      let lines =
        "Date: \(String(decoding: noise.prefix(8), as: UTF8.self))\nRetry-After: \(noise.count)9999999999999\n"
      for call in FirebaseCall.allCases {
        for status in [200, 204, 206, 301, 400, 401, 403, 404, 429, 500, 503, 511, 599] {
          if case .sessionEnded = await failure(call, status, body, lines) {
            Issue.record("a session ended: \(call) \(status) \(body)")
          }
        }
      }
    }
  }

  @Test func `values of wrong types and sizes give no session`() throws {
    let values = [
      "null", "true", "0", "-1", "1e40", "[]", "{}", #""""#, #""\u0000""#, #""a b""#, "\"\u{7F}\"", #""ü""#, "[[[]]]",
    ]
    for value in values {
      let reader = try self.reader(#"{"idToken":\#(value),"refreshToken":"fake"}"#)
      #expect(try reader.tokens() == nil, "\(value)")
    }
    for value in values {
      let reader = try self.reader(#"{"idToken":"fake","refreshToken":"fake","expiresIn":\#(value)}"#)
      let end = try #require(try reader.tokens()?.accessTokenExpiresAt)
      #expect(end == moments.sentAt + .seconds(300), "\(value)")
    }
    let tooLong = "\"" + String(repeating: "x", count: 300) + "\""
    for value in values.dropLast() + [tooLong] where value != #""ü""# && value != #""a b""# {
      #expect(try reader(#"{"localId":\#(value)}"#).signedInUser() == nil, "\(value)")
    }
    #expect(
      try reader(#"{"idToken":"fake","expiresIn":"60"}"#).tokens()?.accessTokenExpiresAt == moments.sentAt
        + .seconds(60))
    #expect(
      try reader(#"{"idToken":"fake","expiresIn":60}"#).tokens()?.accessTokenExpiresAt == moments.sentAt + .seconds(60))
  }

  @Test func `texts of the service cannot steer a terminal`() throws {
    let user = try reader(
      #"{"users":[{"localId":"l","displayName":"A\u001B[31mnn\u202E","phoneNumber":"+15550100123"}]}"#
    )
    .foundUser()
    #expect(user?.name == "A[31mnn")
    #expect(user?.phoneNumberMasked == "+•••••••••23")
  }

  @Test func `every status with every kind of body has a meaning at every call`() {
    let errors = [
      nil, #"{"error":{"message":"TOKEN_EXPIRED"}}"#, #"{"error":"invalid_grant"}"#, #"{"error":[]}"#, #"{"error":{}}"#,
    ]
    for call in FirebaseCall.allCases {
      for status in 200...599 {
        for error in errors {
          let root = error.flatMap { try? JSONDocument(parsing: Array($0.utf8)).root }
          let refusal = FirebaseRefusal(
            status: status, names: root.flatMap { FirebaseRefusal.Names($0) }, retryAfter: nil)
          let failure = refusal.failure(call, carriesToken: false)
          let isEnd = failure == .sessionEnded(.refreshRejected)
          let isNamed = error?.contains("TOKEN_EXPIRED") == true || error?.contains("invalid_grant") == true
          #expect(!isEnd || (call == .token && isNamed && [400, 401, 403].contains(status)), "\(call) \(status)")
        }
      }
    }
  }

  private let moments = ReplyMoments(
    sentAt: Timestamp(milliseconds: 1_800_000_000_000), receivedAt: Timestamp(milliseconds: 1_800_000_001_000))

  private func reader(_ json: String) throws -> FirebaseReader {
    FirebaseReader(root: try JSONDocument(parsing: Array(json.utf8)).root, moments: moments)
  }

  /// Reads everything that there may be in a reply.
  private func read(_ bytes: [UInt8]) {
    guard let root = try? JSONDocument(parsing: bytes, limits: JSONLimits(depth: 64, byteCount: 1 << 20)).root else {
      return
    }
    let reader = FirebaseReader(root: root, moments: moments)
    _ = (
      try? reader.tokens(), reader.signedInUser(), reader.foundUser(), reader.foundEmail(),
      try? reader.secondFactors()?.factors
    )
    if let names = FirebaseRefusal.Names(root) {
      for call in FirebaseCall.allCases {
        _ = FirebaseRefusal(status: 400, names: names, retryAfter: nil).failure(call, carriesToken: true)
      }
    }
  }
}

import JSON
import LinuxSystem
import TestSupport
import Testing

@testable import authbroker

/// What other programs rely on who run `authbroker token --format json`: names, types and exit codes.
///
/// A change of an expectation here breaks them.
@Suite(.standardTimeLimit) struct TokenContractTests {
  private let scratch = Scratch()

  private static let required = ["accessToken", "tokenType", "expiresAt", "scopes", "profile", "tokenId"]
  private static let types = [
    "accessToken": "string", "tokenType": "string", "expiresAt": "string|null", "scopes": "array",
    "profile": "string", "tokenId": "string", "audience": "string", "offline": "true", "minValidityCapped": "true",
    "target": "object", "header": "string",
  ]
  private static let codes: [Int32] = [0, 1, 2, 3, 5, 6, 7, 8]

  private static let token =
    #""accessToken":"made-up","tokenType":"Bearer","expiresAt":"2099-01-01T00:00:00Z","scopes":["a"],"#
    + #""profile":"default","tokenId":"t""#

  private func run(_ answer: String, _ words: [String] = []) throws -> CommandRun {
    let owner = try FakeOwner(in: scratch) { _, _ in answer }
    return try withExtendedLifetime(owner) {
      try CommandRun(["token", "--format", "json"] + words, in: scratch)
    }
  }

  private static func schema() throws -> JSONNode {
    let file = try FileDescriptor.open("\(Repository.root)/Schemas/token.schema.json", .read)
    return try JSONDocument(parsing: try file.contents(limit: 1 << 16)).root
  }

  /// The type of a member as JSON Schema names it.
  private static func type(_ schema: JSONNode) throws -> String {
    if schema["const"]?.kind == .true { return "true" }
    let type = try schema.required("type")
    guard type.kind == .array else { return try type.string() }
    return try type.elements().map { try $0.string() }.joined(separator: "|")
  }

  @Test func `the schema has these members and codes, and no others`() throws {
    let schema = try Self.schema()
    #expect(try schema.required("required").elements().map { try $0.string() } == Self.required)
    var types: [String: String] = [:]
    for member in try schema.required("properties").members() { types[member.name] = try Self.type(member.value) }
    #expect(types == Self.types)
    #expect(schema["additionalProperties"] == nil, "an older reader must take a newer answer")
    #expect(try schema.required("exitCodes").members().compactMap { Int32($0.name) } == Self.codes)
  }

  @Test(arguments: [
    "", #","offline":true"#, #","minValidityCapped":true"#, #","audience":"https://a.example""#,
    #","target":{"prefix":"https://a.example","username":"ann","scheme":"Basic"}"#, #","later":[1]"#,
  ])
  func `the answer is printed whole, on one line`(more: String) throws {
    let run = try run(#""result":{\#(Self.token)\#(more)}"#)
    #expect(run.code == 0 && run.output == "{\(Self.token)\(more)}\n" && run.errors.isEmpty, "\(run)")
  }

  @Test func `an expiry that is not known is null, and another type than Bearer is named`() throws {
    let members = #""accessToken":"t","tokenType":"DPoP","expiresAt":null,"scopes":[],"profile":"a","tokenId":"i""#
    let run = try run(#""result":{\#(members)}"#)
    #expect(run.code == 0 && run.output == "{\(members)}\n", "\(run)")
  }

  private static let refusals: [(Int, String, Int32)] = [
    (1001, "loginRequired", 3), (1002, "sessionExpired", 3), (1003, "challengePending", 3),
    (1004, "refreshOutcomeUnknown", 5), (1005, "reauthRequired", 3), (1040, "networkUnavailable", 5),
    (1041, "timeout", 5), (1042, "providerUnavailable", 5), (1043, "rateLimited", 5), (1044, "providerRejected", 5),
    (1045, "invalidResponse", 5), (1046, "tlsFailed", 5), (1047, "tlsPinMismatch", 5), (1048, "forbidden", 6),
    (1049, "insufficientScope", 6), (1050, "unsupportedByProvider", 1), (1060, "vaultLocked", 7),
    (1062, "vaultTampered", 7), (1063, "storeFailed", 7), (1064, "keySourceUnavailable", 7),
    (1080, "unknownProfile", 2),
    (1081, "accessDenied", 6), (1082, "consentDenied", 6), (1083, "overloaded", 1), (1084, "shuttingDown", 8),
    (1085, "configInvalid", 1), (1087, "deadlineExceeded", 5), (1088, "unknownTarget", 1), (-32603, "internal", 1),
  ]

  @Test(arguments: refusals)
  func `a refusal has its code, a sentence, and nothing on standard output`(
    number: Int, kind: String, code: Int32
  ) throws {
    let run = try run(FakeOwner.refusal(number, kind, "No."))
    #expect(run.code == code && run.output.isEmpty && run.errors.hasPrefix("authbroker: "), "\(run)")
    #expect(Self.codes.contains(code))
  }

  @Test func `a broker that is not there, and a line that cannot be followed`() throws {
    let absent = try CommandRun(["token", "--format", "json", "--no-start"], in: scratch)
    #expect(absent.code == 8 && absent.output.isEmpty, "\(absent)")
    let elsewhere = ["AUTHBROKER_SOCKET": "/proc/none/s"]
    let lost = try CommandRun(["token", "--format", "json"], in: scratch, environment: elsewhere)
    #expect(lost.code == 8 && lost.output.isEmpty, "\(lost)")
    let wrong = try CommandRun(["token", "--format", "jsno"], in: scratch)
    #expect(wrong.code == 2 && wrong.output.isEmpty && wrong.errors.contains("did you mean json?"), "\(wrong)")
  }
}

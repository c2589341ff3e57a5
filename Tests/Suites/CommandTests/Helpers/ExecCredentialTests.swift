import BrokerProtocol
import SecretMemory
import TestSupport
import Testing

@testable import authbroker

/// The questions of Kubernetes' clients.
@Suite(.standardTimeLimit) struct ExecCredentialTests {
  private static let v1 = #""apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential""#

  @Test func `a question says which version, and which cluster`() throws {
    let cluster = #""spec":{"interactive":false,"cluster":{"server":"https://k.example:6443","config":null}}"#
    let question = try ExecCredential(parsing: "{\(Self.v1),\(cluster)}")
    #expect(question.version.hasSuffix("/v1") && question.server == "https://k.example:6443")
    let bare = try ExecCredential(
      parsing: #"{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1","spec":{}}"#)
    #expect(bare.version.hasSuffix("/v1beta1") && bare.server == nil)
  }

  @Test(arguments: [
    ("", ExecCredential.Fault.noObject), ("[]", .noObject), ("null", .noObject), ("{", .noObject),
    (#"{"kind":"ExecCredential","spec":{}}"#, .noObject), ("{\(v1)}", .noObject), ("{\(v1),\"spec\":[]}", .noObject),
    (#"{"apiVersion":1,"kind":"ExecCredential","spec":{}}"#, .noObject),
    (#"{"apiVersion":"client.authentication.k8s.io/v1","kind":"Pod","spec":{}}"#, .otherKind),
    (#"{"apiVersion":"client.authentication.k8s.io/v1alpha1","kind":"ExecCredential","spec":{}}"#, .otherVersion),
    ("{\(v1),\"spec\":{\"cluster\":{}}}", .noServer), ("{\(v1),\"spec\":{\"cluster\":{\"server\":\"\"}}}", .noServer),
    ("{\(v1),\"spec\":{\"cluster\":{\"server\":\"https://a b\"}}}", .noServer),
    ("{\(v1),\"spec\":{\"cluster\":\"https://a\"}}", .noServer),
  ]) func `a malformed question is refused`(text: String, fault: ExecCredential.Fault) {
    #expect(throws: fault) { try ExecCredential(parsing: text) }
    #expect(!fault.reason.isEmpty)
  }

  @Test func `an answer never promises more than the token has, and nothing where that is not known`() throws {
    let secret = try Secret(utf8: "made-\"up")
    let expiry = Timestamp(milliseconds: 1_800_000_000_999)
    let answer = String(decoding: ExecCredential().answer(secret, expiresAt: expiry), as: UTF8.self)
    #expect(
      answer
        == #"{\#(Self.v1),"status":{"expirationTimestamp":"2027-01-15T08:00:00Z","token":"made-\"up"}}"#)
    let endless = String(decoding: ExecCredential().answer(secret, expiresAt: nil), as: UTF8.self)
    #expect(!endless.contains("expirationTimestamp"))
  }
}

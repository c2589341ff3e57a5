import JSON
import LinuxSystem
import SecretMemory
import TestSupport
import Testing

@testable import JOSE
@testable import Signing

/// Keys as `openssl` makes them, and tokens as PyJWT makes and verifies them.
@Suite(.standardTimeLimit) struct ForeignToolTests {
  private static let openssl = "/usr/bin/openssl"
  private static let python = "/usr/bin/python3"

  private static func isThere(_ path: String) -> Bool { (try? FileStatus.following(path)) != nil }
  private static let hasPyJWT = ["jwt", "cryptography"].allSatisfy { isThere("/usr/lib/python3/dist-packages/" + $0) }

  private let scratch = Scratch()

  /// A file that openssl has written.
  private func made(_ name: String, _ arguments: String) throws -> String {
    let path = scratch.file(name)
    let words = arguments.split(separator: " ").map(String.init)
    let printed = try output(of: [Self.openssl, words[0], "-out", path] + words.dropFirst())
    guard Self.isThere(path) else { throw ToolFailure(printed: printed) }
    return String(decoding: try scratch.bytes(of: name), as: UTF8.self)
  }

  private struct ToolFailure: Error { let printed: String }

  @Test(
    .enabled(if: isThere(openssl), "openssl is not installed"),
    arguments: [
      ("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256", .es256),
      ("ecparam -name prime256v1 -genkey", .es256), ("ecparam -name prime256v1 -genkey -noout", .es256),
      ("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -pkeyopt ec_param_enc:explicit", .es256),
      ("genrsa 2048", .rs256), ("genrsa -traditional 3072", .rs256),
    ] as [(String, JWSAlgorithm)])
  func `a key that openssl has made`(_ arguments: String, _ algorithm: JWSAlgorithm) throws {
    let text = try made("key", arguments)
    let key = try KeyFiles.key(text)
    #expect(key.algorithm == algorithm)
    let publicKey = try output(of: [Self.openssl, "pkey", "-in", scratch.file("key"), "-pubout", "-outform", "PEM"])
    try scratch.write(publicKey, to: "public")
    #expect(try KeyFiles.fault(publicKey) == .notPrivate(label: "PUBLIC KEY"))
    #expect(try KeyFiles.fault(publicKey + text) == nil)
  }

  @Test(
    .enabled(if: isThere(openssl), "openssl is not installed"),
    arguments: [
      ("genrsa 1024", .size(bits: 1024)), ("ecparam -name secp384r1 -genkey", .curve),
      ("ecparam -name secp256k1 -genkey", .curve), ("genpkey -algorithm ED25519", .kind),
      ("genpkey -algorithm X25519", .kind), ("genpkey -algorithm RSA-PSS -pkeyopt rsa_keygen_bits:2048", .kind),
      ("genrsa -aes256 -passout pass:x 2048", .encrypted),
      ("genrsa -traditional -aes256 -passout pass:x 2048", .encrypted),
      ("ecparam -name prime256v1", .notPrivate(label: "EC PARAMETERS")),
    ] as [(String, KeyFault)])
  func `a key of openssl's that neither algorithm takes`(_ arguments: String, _ fault: KeyFault) throws {
    #expect(try KeyFiles.fault(try made("key", arguments)) == fault)
  }

  /// Reads a JSON Web Key, a token and the algorithm from a file, and prints whose the token is.
  private static let verifying = """
    import json, sys, jwt
    key, token, algorithm = json.load(open(sys.argv[1]))
    key = jwt.PyJWK.from_dict({**key, "alg": algorithm})
    print(jwt.decode(token, key.key, algorithms=[algorithm], audience="https://id.example.com")["sub"])
    """

  @Test(.enabled(if: hasPyJWT, "python3-jwt or python3-cryptography is not installed"), arguments: [true, false])
  func `another program verifies the tokens, and none that was changed`(_ isES256: Bool) throws {
    let key = try isES256 ? .random() : KeyFiles.key(KeyFiles.pem("RSA PRIVATE KEY", Self.rsa))
    let header = CompactJWS.header(key.algorithm, type: "client-authentication+jwt", keyID: key.publicKey.thumbprint)
    let payload = Array(#"{"aud":"https://id.example.com","iss":"c","sub":"c"}"#.utf8)
    let token = try #require(try key.token(payload.span, header: header).revealedString())
    let jwk = String(decoding: key.publicKey.canonicalForm, as: UTF8.self)
    for end in ["", "A"] {
      let changed = token.dropLast(20 + end.count) + end + token.suffix(20)
      try scratch.write(#"[\#(jwk), "\#(changed)", "\#(key.algorithm.rawValue)"]"#, to: "question")
      let printed = try output(of: [Self.python, "-I", "-c", Self.verifying, scratch.file("question")])
      if changed == token { #expect(printed == "c\n") } else { #expect(printed.contains("InvalidSignatureError")) }
    }
  }

  private static let rsa = KeyFiles.pkcs1(PublishedKeys.rs256)

  /// Makes a key, and prints its public half and a token.
  private static let making = """
    import json, sys, jwt
    from cryptography.hazmat.primitives.asymmetric import ec, rsa
    from jwt.algorithms import ECAlgorithm, RSAAlgorithm
    if sys.argv[1] == "ES256": key, form = ec.generate_private_key(ec.SECP256R1()), ECAlgorithm
    else: key, form = rsa.generate_private_key(65537, 2048), RSAAlgorithm
    public = form.to_jwk(key.public_key())
    print(json.dumps([json.loads(public) if isinstance(public, str) else public, jwt.encode({"sub": "c"}, key, sys.argv[1])]))
    """

  @Test(.enabled(if: hasPyJWT, "python3-jwt or python3-cryptography is not installed"), arguments: ["ES256", "RS256"])
  func `the tokens of another program are verified`(_ algorithm: String) throws {
    let printed = Array(try output(of: [Self.python, "-I", "-c", Self.making, algorithm]).utf8)
    let made = try KeyFiles.document(printed)
    let key = try VerificationKey(made[0])
    #expect(key.algorithm.rawValue == algorithm)
    #expect(try KeyFiles.isSigned(made[1].string(), with: key))
    #expect(try !KeyFiles.isSigned(made[1].string(), with: SigningKey.random().publicKey))
  }
}

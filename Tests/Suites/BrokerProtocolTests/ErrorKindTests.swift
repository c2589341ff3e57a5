import BrokerProtocol
import TestSupport
import Testing

@Suite(.standardTimeLimit) struct ErrorKindTests {
  private static let codes: [(ErrorKind, Int)] = [
    (.parseError, -32700), (.invalidRequest, -32600), (.messageTooLarge, -32600), (.methodNotFound, -32601),
    (.invalidParams, -32602), (.internal, -32603), (.cancelled, -32800), (.loginRequired, 1001),
    (.sessionExpired, 1002),
    (.challengePending, 1003), (.refreshOutcomeUnknown, 1004), (.reauthRequired, 1005), (.invalidCredentials, 1020),
    (.missingCredential, 1021), (.otpInvalid, 1022), (.otpExpired, 1023), (.flowNotFound, 1024),
    (.backupCodeInvalid, 1025), (.resendTooSoon, 1026), (.tooManyAttempts, 1027), (.accountLocked, 1028),
    (.emailUnverified, 1029), (.emailTaken, 1030), (.validationFailed, 1031), (.captchaRequired, 1032),
    (.networkUnavailable, 1040), (.timeout, 1041), (.providerUnavailable, 1042), (.rateLimited, 1043),
    (.providerRejected, 1044), (.invalidResponse, 1045), (.tlsFailed, 1046), (.tlsPinMismatch, 1047),
    (.forbidden, 1048),
    (.insufficientScope, 1049), (.unsupportedByProvider, 1050), (.vaultLocked, 1060), (.wrongPassphrase, 1061),
    (.vaultTampered, 1062), (.storeFailed, 1063), (.keySourceUnavailable, 1064), (.unknownProfile, 1080),
    (.accessDenied, 1081), (.consentDenied, 1082), (.overloaded, 1083), (.shuttingDown, 1084), (.configInvalid, 1085),
    (.versionUnsupported, 1086), (.deadlineExceeded, 1087), (.unknownTarget, 1088),
  ]

  @Test func `every kind has the code of the contract`() {
    for (kind, code) in Self.codes { #expect(kind.code == code) }
    #expect(Set(Self.codes.map(\.0)) == Set(ErrorKind.allCases) && Self.codes.count == ErrorKind.allCases.count)
  }

  @Test func `only the two refusals of a message share a code`() {
    let codes = ErrorKind.allCases.map(\.code)
    #expect(Set(codes).count == codes.count - 1)
  }

  @Test func `every kind has a sentence of its own`() {
    let sentences = ErrorKind.allCases.map(\.message)
    #expect(Set(sentences).count == sentences.count)
    for sentence in sentences { #expect(sentence.hasSuffix(".") && sentence.first?.isUppercase == true) }
  }

  @Test func `what can be retried is never answered with a login`() {
    for kind in ErrorKind.allCases where kind.isRetryable { #expect(kind.nextAction != .login) }
    for kind in ErrorKind.allCases where kind.nextAction == .retry { #expect(kind.isRetryable) }
  }

  @Test func `a locked account is not answered with a login, which could only lock it for longer`() {
    #expect(ErrorKind.accountLocked.nextAction == .contactProvider)
  }
}

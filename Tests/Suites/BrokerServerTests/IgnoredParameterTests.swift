import BrokerProtocol
import BrokerServer
import Logging
import Synchronization
import TestSupport
import Testing

/// What the log says of parameters that the broker does not know.
@Suite(.standardTimeLimit) struct IgnoredParameterTests {
  private final class Lines: Sendable {
    private let lines = Mutex<[String]>([])
    var logger: Logger {
      Logger(level: .debug) { [self] line in lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) } }
    }
    var all: [String] { lines.withLock { $0 } }
  }

  private static func call(_ method: String, _ params: String) -> String {
    #"{"jsonrpc":"2.0","id":9,"method":"\#(method)","params":\#(params)}"#
  }

  @Test(arguments: [
    "login", "verifyOtp", "verifyBackupCode", "resendOtp", "register", "verifyEmail", "forgotPassword",
    "resetPassword", "changePassword", "updateProfile", "deleteAccount", "reauthenticate", "unlock", "rekey",
    "tryProvider", "continueTrial", "generateBackupCodes", "reportRejected", "addLocalUser", "introspectLocalToken",
  ])
  func `a secret that was sent as a parameter's name is not in the log`(_ method: String) async throws {
    try await OwnThread.run {
      let lines = Lines()
      let harness = try ServerHarness(log: lines.logger)
      let client = try harness.connect()
      let known =
        #""email":"a@example.test","password":"x","otpFlowId":"x","code":"1","token":"x","trialId":"x","#
        + #""backupCode":"x","oldPassword":"x","newPassword":"x","changes":{},"tokenId":"x""#
      _ = client.ask(Self.call(method, #"{\#(known),"correct horse battery":true}"#))
      #expect(!lines.all.contains { $0.contains("horse") }, "\(lines.all)")
    }
  }

  @Test func `few names are told, cut to few bytes, whatever the connections`() async throws {
    try await OwnThread.run {
      let lines = Lines()
      let harness = try ServerHarness(log: lines.logger)
      for connection in 0..<50 {
        let client = try harness.connect()
        // One character of many bytes.
        let long = "e" + String(repeating: "\u{301}", count: 5000)
        _ = client.ask(Self.call("getSession", #"{"\#(long)\#(connection)":1,"name\#(connection)":1}"#))
      }
      let told = lines.all.filter { $0.contains("ignored a parameter") }
      #expect((1...16).contains(told.count))
      #expect(told.allSatisfy { $0.utf8.count < 600 })
    }
  }

  @Test(arguments: ["hunter2", "correct horse battery", "Zq7-x", #"\u0070orfile"#])
  func `what is no parameter's name is told by its place alone`(_ name: String) async throws {
    try await OwnThread.run {
      let lines = Lines()
      let client = try ServerHarness(log: lines.logger).connect()
      for _ in 0..<2 { _ = client.ask(Self.call("getSession", #"{"profile":"default","\#(name)":true}"#)) }
      let told = lines.all.filter { $0.contains("ignored a parameter") }
      #expect(told.count == 1 && told.first?.contains(" place=2 method=getSession ") == true, "\(told)")
      #expect(!lines.all.contains { $0.contains(name) })
    }
  }

  @Test func `a misspelt parameter is named once for each connection`() async throws {
    try await OwnThread.run {
      let lines = Lines()
      let harness = try ServerHarness(log: lines.logger)
      let client = try harness.connect()
      for _ in 0..<3 { _ = client.ask(Self.call("getSession", #"{"porfile":"default"}"#)) }
      #expect(lines.all.count { $0.contains("porfile") } == 1)
    }
  }
}

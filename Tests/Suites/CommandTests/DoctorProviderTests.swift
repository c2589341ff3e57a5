import BrokerProtocol
import Glibc
import JSON
import LinuxSystem
import StateDirectory
import TestSupport
import Testing

@testable import authbroker

/// What the doctor makes of the providers that the broker has looked at.
@Suite(.standardTimeLimit) struct DoctorProviderTests {
  private let scratch = Scratch()

  /// Files as a broker leaves them, and a daemon that is of this version and likes its configuration.
  private func makeState() throws {
    _ = try PrivateDirectory(scratch.file("state"), create: true)
    // A test beside this one may just have another umask(2), for a socket of its own: all have one process.
    #expect(chmod(scratch.file("state"), 0o700) == 0)
    for name in ["vault.sqlite", "vault.key", "broker.log"] { try scratch.write("x", to: "state/" + name) }
    try scratch.write(
      """
      #!/bin/sh
      case "$*" in
      *--version*) echo 'authbrokerd \(ProgramVersion.current)' ;;
      *) echo 'ok: fine' ;;
      esac

      """, to: "daemon")
    #expect(chmod(scratch.file("daemon"), 0o700) == 0)
  }

  /// Runs the doctor on a broker that says this of its providers, and of its vault.
  private func run(
    _ providers: String, status: String = FakeOwner.status(), steps: String? = nil, _ words: [String] = []
  ) throws -> (run: CommandRun, requests: [String]) {
    try makeState()
    let owner = try FakeOwner(in: scratch, providers: providers) { method, _ in
      switch method {
      case "getStatus": status
      case "checkProvider": steps ?? FakeOwner.refusal(1043, "rateLimited", "Wait.")
      default: #""result":{"ok":true,"findings":[]}"#
      }
    }
    let run = try CommandRun(["doctor"] + words, in: scratch)
    return (run, owner.requests.filter { $0.hasPrefix("checkProvider") })
  }

  private static func reports(_ reports: String...) -> String {
    #""result":{"providers":[\#(reports.joined(separator: ","))]}"#
  }

  private static func report(_ members: String, reachable: Bool = true, profile: String = "shop") -> String {
    #"{"profile":"\#(profile)","provider":"rest","reachable":\#(reachable),"host":"h.example.test",\#(members)}"#
  }

  private static func answered(_ members: String, message: String = "It answers.") -> String {
    report(#""tls":true,"status":401,"roundTripSeconds":0.084,\#(members)"message":"\#(message)""#)
  }

  private static func failed(_ kind: String, profile: String = "shop") -> String {
    report(#""tls":true,"errorKind":"\#(kind)","message":"Do this.""#, reachable: false, profile: profile)
  }

  @Test func `authorities beside the system's are shown, and told where nothing can be read`() throws {
    let authorities =
      #""authorities":[{"source":"SSL_CERT_FILE","path":"/a.pem","readable":true},"#
      + #"{"source":"network.caFile","path":"/b.pem","readable":false}],"profiles":[]"#
    let status = FakeOwner.status().replacing(#""profiles":[]"#, with: authorities)
    let (run, _) = try run(Self.reports(Self.here), status: status)
    #expect(run.output.contains("/a.pem is trusted beside the system's authorities"), "\(run.output)")
    #expect(run.output.contains("/b.pem could not be read, or has no certificate in it"), "\(run.output)")
  }

  @Test(arguments: [
    ("/a.pem", "/c:/d", 0), ("", "", 2), ("/b.pem", "/c:/d", 1), ("/a.pem", "/c", 1), ("/a.pem", "", 1),
  ])
  func `other authorities here than where the broker was started are told`(
    _ file: String, _ directories: String, _ count: Int
  ) throws {
    let authorities = [
      ("SSL_CERT_FILE", "/a.pem"), ("SSL_CERT_DIR", "/c"), ("SSL_CERT_DIR", "/d"), ("network.caFile", "/e"),
    ]
    .map { GetStatus.Authority(source: $0.0, path: $0.1, isReadable: true) }
    let environment = EnvironmentVariables(["SSL_CERT_FILE": file, "SSL_CERT_DIR": directories])
    let findings = ProviderCheck.otherAuthorities(authorities, environment)
    #expect(findings.count == count && findings.allSatisfy { $0.status == .warning })
    #expect(findings.allSatisfy { $0.message.sentence.contains("where the running broker was started") })
  }

  private static let here = #"{"profile":"own","provider":"local","reachable":true,"message":"Nothing to reach."}"#

  /// What a broker says, and what the doctor makes of it.
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let providers: String
    var status = FakeOwner.status()
    let code: Int32
    let line: String

    var testDescription: String { name }
  }

  private static let degraded =
    #"{"profile":"shop","provider":"rest","state":"authenticated","scopes":[],"refreshTokenPresent":true,"#
    + #""storeDegraded":true}"#

  private static let cases = [
    Case(name: "here", providers: reports(here), code: 0, line: "ok own nothing to reach\n"),
    Case(
      name: "well", providers: reports(answered(#""clockSkewSeconds":-30,"#)), code: 0,
      line: "ok shop h.example.test answers over TLS in 84 ms; its clock agrees\n"),
    Case(
      name: "no clock", providers: reports(answered("")), code: 0,
      line: "ok shop h.example.test answers over TLS in 84 ms; its clock is not known\n"),
    Case(
      name: "clock", providers: reports(answered(#""clockSkewSeconds":31,"#, message: "31 s; set the clock.")), code: 0,
      line: "warning shop h.example.test: 31 s; set the clock\n"),
    Case(
      name: "trouble", providers: reports(report(#""status":503,"message":"Wait.""#)), code: 0,
      line: "warning shop h.example.test: wait\n"),
    Case(
      name: "issuer",
      providers: reports(
        answered(#""clockSkewSeconds":31,"errorKind":"configInvalid","#, message: "Look at issuer.")), code: 1,
      line: "error shop h.example.test: look at issuer; see: authbroker "),
    Case(
      name: "issuer and unreachable",
      providers: reports(answered(#""errorKind":"configInvalid","#), failed("timeout", profile: "work")), code: 1,
      line: "error shop h.example.test: it answers; see: authbroker "),
    Case(
      name: "unreachable", providers: reports(here, failed("networkUnavailable")), code: 5,
      line: "error shop h.example.test: do this\n"),
    Case(
      name: "pin", providers: reports(failed("tlsPinMismatch")), code: 5, line: "error shop h.example.test: do this\n"),
    Case(name: "of later", providers: reports(failed("aKindOfLater")), code: 5, line: "error shop h.example.test: do"),
    Case(name: "ours", providers: reports(failed("internal")), code: 1, line: "error shop h.example.test: do this\n"),
    Case(
      name: "and another error", providers: reports(failed("timeout")), status: FakeOwner.status(profiles: degraded),
      code: 1, line: "error shop h.example.test: do this\n"),
    Case(
      name: "and a locked vault", providers: reports(failed("timeout")), status: FakeOwner.status(locked: true),
      code: 7,
      line: "error shop h.example.test: do this\n"),
    Case(
      name: "older", providers: FakeOwner.refusal(-32601, "methodNotFound", "No."), code: 0,
      line: "warning providers the running broker is of an earlier version, which cannot do this; "
        + "restart it with: authbroker "),
    Case(
      name: "refused", providers: FakeOwner.refusal(1083, "overloaded", "Too many."), code: 1,
      line: "error providers the providers could not be checked: too many"),
    Case(
      name: "escapes", providers: reports(report(#""message":"a\u001b[31mb""#, reachable: false)), code: 5,
      line: "error shop h.example.test: a"),
  ]

  @Test(arguments: cases)
  func `what the broker says becomes a line and an exit code`(_ example: Case) throws {
    let (run, requests) = try run(example.providers, status: example.status)
    #expect(run.code == example.code, "\(run.output)")
    #expect(run.words.contains("\nProviders\n") && run.words.contains(" \(example.line)"), "\(run.output)")
    #expect(!run.output.contains("\u{1B}"))
    #expect(requests == ["checkProviders {}"])
  }

  /// The report on a profile that is known by its resource alone, and the steps to its tokens.
  private static let resource = reports(answered("").replacing(#""rest""#, with: #""mcp""#))
  private static func steps(_ findings: String...) -> String {
    #""result":{"profile":"shop","provider":"mcp","loginMethods":[],"findings":[\#(findings.joined(separator: ","))],"#
      + #""trial":[]}"#
  }
  private static let wellKnown = #"{"check":"resource","level":"ok","message":"x.json describes the resource"}"#

  @Test func `each step to the tokens of a resource is told, and nothing twice`() throws {
    let found = Self.steps(
      #"{"check":"reachable","level":"ok","message":"the resource answers"}"#,
      #"{"check":"clock","level":"note","message":"It does not send its time."}"#, Self.wellKnown,
      #"{"check":"resource.issuer","level":"ok","message":"it names the authorization server"}"#,
      #"{"check":"reachable","level":"ok","message":"the authorization server answers"}"#,
      #"{"check":"grants","level":"note","message":"It does not list its grant types."}"#,
      #"{"check":"scopes","level":"warning","message":"It does not list: x.","advice":"Check scopes."}"#,
      #"{"check":"client","level":"ok","message":"a client will be registered at the first login"}"#)
    let (run, requests) = try run(Self.resource, steps: found)
    #expect(run.code == 0 && requests == ["checkProviders {}", #"checkProvider {"profile":"shop"}"#])
    let lines = run.words.split(separator: "\n").map { $0.drop { $0 == " " } }
    #expect(lines.filter { $0.contains(" shop ") }.count == 6, "\(run.output)")
    #expect(lines.contains("ok shop resource x.json describes the resource"), "\(run.output)")
    #expect(lines.contains("ok shop reachable the authorization server answers"), "\(run.output)")
    #expect(lines.contains("warning shop scopes it does not list: x; check scopes"), "\(run.output)")
    #expect(!run.output.contains("the resource answers") && !run.output.contains("grant types"), "\(run.output)")
  }

  @Test(arguments: [("configInvalid", 1), ("networkUnavailable", 5)])
  func `a step that fails is an error that names the command`(_ kind: String, _ code: Int32) throws {
    let (run, _) = try run(
      Self.resource,
      steps: Self.steps(
        Self.wellKnown,
        #"{"check":"pkce","level":"failure","message":"No S256.","advice":"Ask the operator.","errorKind":"\#(kind)"}"#)
    )
    #expect(run.code == code, "\(run.output)")
    #expect(
      run.words.contains(" error shop pkce no S256; ask the operator; see: authbroker ")
        && run.output.contains("provider-check shop\n"), "\(run.output)")
  }

  @Test func `where the steps cannot be had, the command for them is named`() throws {
    let (run, _) = try run(Self.resource)
    #expect(run.code == 0 && run.words.contains(" note shop steps not asked; each step to its tokens is told by: "))
    let away = Self.reports(Self.failed("timeout").replacing(#""rest""#, with: #""mcp""#))
    #expect(try self.run(away).requests == ["checkProviders {}"], "nothing is asked of what is away")
  }

  @Test func `without the network nobody is asked, and that is said`() throws {
    let (run, requests) = try run(Self.reports(Self.failed("timeout")), ["--no-network"])
    #expect(run.code == 0 && requests.isEmpty)
    #expect(run.words.contains(" note providers not asked, because of --no-network\n"), "\(run.output)")
  }

  @Test func `a profile that is named is the only one that is asked for`() throws {
    let (run, requests) = try run(Self.reports(Self.answered("")), ["--profile", "shop"])
    #expect(run.code == 0 && requests == [#"checkProviders {"profile":"shop"}"#])
    #expect(try CommandRun(["doctor", "--profile", "No Name"], in: scratch).code == 2)
  }

  @Test func `programs get the same, with stable names`() throws {
    let skewed = Self.answered(#""clockSkewSeconds":-90,"#)
    let wrong = Self.answered(#""errorKind":"configInvalid","#)
    let (mistaken, _) = try run(Self.reports(wrong), ["--json"])
    let first = try JSONDocument(parsing: Array(mistaken.output.utf8)).root.required("findings").elements().last
    #expect(try first?.required("check").string() == "providers.configuration" && mistaken.code == 1)
    let (run, _) = try run(Self.reports(Self.failed("tlsFailed", profile: "work"), skewed), ["--json"])
    let root = try JSONDocument(parsing: Array(run.output.utf8)).root
    #expect(try root.required("ok").bool() == false)
    #expect(try root.required("exitCode").integer() == 5 && run.code == 5)
    let findings = try root.required("findings").elements().suffix(2).map { finding in
      try ["check", "status", "profile"].map { try finding.required($0).string() }
    }
    #expect(findings == [["providers.reachable", "error", "work"], ["providers.clock", "warning", "shop"]])
  }
}

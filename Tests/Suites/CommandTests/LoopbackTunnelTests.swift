import LinuxSystem
import TestSupport
import Testing

@testable import authbroker

/// The line for ssh(1) that brings a browser elsewhere back to a login here.
@Suite(.standardTimeLimit) struct LoopbackTunnelTests {
  private static let connection = "192.0.2.7 50000 192.0.2.5 22"

  private static func tunnel(_ redirect: String, _ connection: String = connection) -> LoopbackTunnel? {
    LoopbackTunnel(
      to: "https://id.example/authorize?client_id=x&redirect_uri=\(redirect)&state=s",
      ["SSH_CONNECTION": connection, "LOGNAME": "ann"])
  }

  @Test(arguments: [
    ("http%3A%2F%2F127.0.0.1%3A43123%2Fcallback", "ssh -N -L 43123:127.0.0.1:43123 ann@192.0.2.5"),
    ("http://localhost:8080/", "ssh -N -L 8080:localhost:8080 ann@192.0.2.5"),
    ("http%3a%2f%2f%5b%3a%3a1%5d%3a7%2f", "ssh -N -L '[::1]:7:[::1]:7' ann@192.0.2.5"),
  ])
  func `it forwards the port of the redirect address`(redirect: String, command: String) {
    #expect(Self.tunnel(redirect)?.command == command)
  }

  @Test func `another port of the server, and a server by IPv6, are named`() {
    let redirect = "http%3A%2F%2F127.0.0.1%3A43123%2F"
    #expect(
      Self.tunnel(redirect, "2001:db8::7 1 2001:db8::5 2222")?.command
        == "ssh -N -L 43123:127.0.0.1:43123 -p 2222 ann@2001:db8::5")
  }

  @Test(arguments: [
    ("https%3A%2F%2Fapp.example%2Fcallback", connection), ("com.example%3A%2Fback", connection),
    ("http%3A%2F%2F127.0.0.1%3A99999%2F", connection), ("http%3A%2F%2F127.0.0.1.other.example%2F", connection),
    ("%zz", connection), ("http%3A%2F%2F127.0.0.1%3A43123%2F", ""),
  ])
  func `there is none where nothing comes back to this computer, or nobody is here by ssh`(
    redirect: String, connection: String
  ) {
    #expect(Self.tunnel(redirect, connection) == nil)
  }

  @Test func `a login in a browser over ssh shows the line before the wait`() throws {
    let scratch = Scratch()
    let address = "https://id.example/a?redirect_uri=http%3A%2F%2F127.0.0.1%3A43123%2Fcallback"
    let owner = try FakeOwner(in: scratch) { method, _ in
      method == "login"
        ? #""result":{"status":"userActionRequired","action":{"loginFlowId":"f","profile":"default","kind":"browser","#
          + #""verificationUri":"\#(address)","expiresAt":"2099-01-01T00:00:00Z"}}"# : LoginCommandTests.session
    }
    let environment = ["SSH_CONNECTION": Self.connection, "USER": "ann"]
    let run = try CommandRun(["login", "--method", "browser"], in: scratch, environment: environment)
    let line = "run there:\nssh -N -L 43123:127.0.0.1:43123 ann@192.0.2.5\n"
    #expect(run.code == 0 && run.errors.contains(line), "\(run.errors)")
    let own = try CommandRun(
      ["login", "--method", "browser"], in: scratch, environment: environment.merging(["BROWSER": "true"]) { $1 })
    #expect(!own.errors.contains("ssh -N") && owner.requests.count == 4, "\(own.errors)")
  }
}

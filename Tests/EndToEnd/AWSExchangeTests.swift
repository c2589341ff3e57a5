import LinuxSystem
import TestSupport
import Testing

/// AWS's tools start the helper once for each of their own processes.
@Suite(.standardTimeLimit) struct AWSExchangeTests {
  @Test func `twenty commands that are started together make one exchange`() async throws {
    try await Sandbox.run { sandbox in
      _ = try sandbox.owner()
      try SocketWire(sandbox.socket).register()
      let folder = sandbox.root + "/bin"
      _ = try PrivateDirectory(folder, create: true)
      let answer =
        "<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>"
        + "<AccessKeyId>ASIAMADEUP</AccessKeyId><SecretAccessKey>made-up</SecretAccessKey><SessionToken>t</SessionToken>"
        + "<Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleWithWebIdentityResult>"
        + "</AssumeRoleWithWebIdentityResponse>"
      let curl = "#!/bin/sh\ncat >/dev/null\necho call >>'\(sandbox.root)/calls'\nprintf '%s\\n200' '\(answer)'\n"
      try Directory.write(curl, to: folder + "/curl")
      let command =
        "'\(BuiltPrograms.command)' --state '\(sandbox.state)' helper aws --role-arn arn:aws:iam::123456789012:role/dev"
        + " -p default --access --sts-url http://127.0.0.1:1/"
      let script =
        "chmod 700 '\(folder)/curl'; PATH='\(folder)':$PATH; export PATH; i=0; "
        + "while [ $i -lt 20 ]; do \(command) & i=$((i+1)); done; wait; echo calls $(wc -l <'\(sandbox.root)/calls')"
      let outcome = try sandbox.run("/bin/sh", ["-c", script])
      let lines = outcome.output.split(separator: "\n")
      #expect(lines.count { $0.contains(#""AccessKeyId":"ASIAMADEUP""#) } == 20, "\(outcome.errors)")
      #expect(lines.last == "calls 1", "\(outcome.output) \(outcome.errors)")
    }
  }
}

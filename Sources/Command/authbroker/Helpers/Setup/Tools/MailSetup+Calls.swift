import BrokerProtocol

extension MailHelper {
  /// msmtp logs in before it names a recipient: nothing is sent.
  static var msmtp: ToolCall {
    ToolCall(
      program: "msmtp", requirement: "msmtp 1.8.4 or later", dialect: .smtp, concerns: isSubmission
    ) { place in
      let configuration = """
        account default
        host 127.0.0.1
        port \(place.port)
        from probe@example.com
        user \(place.username)
        tls off
        auth oauthbearer
        passwordeval "\(command(place))"

        """
      return ToolInvocation(
        arguments: ["-C", "\(place.home)/msmtprc", "probe@example.com"], input: "Subject: probe\n\n",
        files: ["msmtprc": configuration])
    }
  }

  /// mbsync, by the command LOGIN: OAUTHBEARER and XOAUTH2 need plugins of SASL that are not everywhere.
  static var mbsync: ToolCall {
    ToolCall(
      program: "mbsync", requirement: "isync 1.4 or later", dialect: .imap, concerns: isMailbox
    ) { place in
      let configuration = """
        IMAPAccount probe
        Host 127.0.0.1
        Port \(place.port)
        SSLType None
        User "\(place.username)"
        AuthMechs LOGIN
        PassCmd "\(command(place))"

        IMAPStore far
        Account probe

        MaildirStore near
        Path \(place.home)/box/
        Inbox \(place.home)/box/INBOX

        Channel probe
        Far :far:
        Near :near:
        Patterns INBOX
        SyncState *

        """
      return ToolInvocation(
        arguments: ["-c", "\(place.home)/mbsyncrc", "probe"],
        files: ["mbsyncrc": configuration, "box/.probe": ""])
    }
  }

  private static func isSubmission(_ target: Target) -> Bool { target.url.hasPrefix("smtp") }

  private static func isMailbox(_ target: Target) -> Bool { target.url.hasPrefix("imap") }

  /// The command that both run, which names the target itself.
  private static func command(_ place: ProbePlace) -> String {
    "\(place.setup.program) token --url \(place.target.url)"
  }
}

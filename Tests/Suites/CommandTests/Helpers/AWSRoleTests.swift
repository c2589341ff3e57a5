import Glibc
import LinuxSystem
import SecretMemory
import TestSupport
import Testing

@testable import authbroker

/// What `helper aws` asks for, and where.
@Suite(.standardTimeLimit) struct AWSRoleTests {
  private static let arn = "arn:aws:iam::123456789012:role/developer"

  private func role(_ words: [String], _ environment: [String: String] = [:]) throws(CommandFailure) -> AWSRole {
    let arguments = try Arguments(words, known: AWSHelper.description.options)
    return try AWSRole(Context(arguments: arguments, environment: EnvironmentVariables(environment)))
  }

  @Test func `the command line comes before the environment, and that before what is usual`() throws {
    let plain = try role(["--role-arn", Self.arn])
    #expect(plain.session == "authbroker" && plain.duration == nil)
    #expect(plain.url == "https://sts.amazonaws.com/")
    let environment = ["AWS_ROLE_ARN": Self.arn, "AWS_ROLE_SESSION_NAME": "s1", "AWS_REGION": "eu-central-1"]
    let named = try role([], environment)
    #expect(named.arn == Self.arn && named.session == "s1")
    #expect(named.url == "https://sts.eu-central-1.amazonaws.com/")
    let words = ["--session-name", "s2", "--duration=900", "--sts-url", "http://127.0.0.1:4566"]
    let chosen = try role(words, environment)
    #expect(chosen.session == "s2" && chosen.duration == 900)
    #expect(chosen.url == "http://127.0.0.1:4566/")
  }

  @Test func `the address is that of the first variable that is set`() {
    let cases: [([String: String], String?)] = [
      (["AWS_ENDPOINT_URL_STS": "https://a/", "AWS_ENDPOINT_URL": "https://b/"], "https://a/"),
      (["AWS_ENDPOINT_URL_STS": "", "AWS_ENDPOINT_URL": "https://b/", "AWS_REGION": "x"], "https://b/"),
      (["AWS_DEFAULT_REGION": "us-east-1"], "https://sts.us-east-1.amazonaws.com/"),
      (["AWS_REGION": "cn-north-1", "AWS_DEFAULT_REGION": "x"], "https://sts.cn-north-1.amazonaws.com.cn/"),
      (["AWS_REGION": "evil.example/"], nil), ([:], "https://sts.amazonaws.com/"),
    ]
    for (environment, url) in cases { #expect(AWSRole.service(EnvironmentVariables(environment)) == url) }
  }

  @Test(arguments: [
    "http://sts.example/", "http://127.evil.example/", "http://127.0.0.1.evil.example/", "http://localhost.example/",
    "ftp://a/", "https://", "https://:1/", "https://user@a/", "https://a/?b", "https://a/#b", "https://a/\"", "a",
    "https://a/\nproxy", "https://a b/", "https://{a,b}/", "http://[::2]/", "",
  ]) func `a token is sent to no such address`(url: String) {
    #expect(AWSRole.address(url) == nil)
  }

  @Test(arguments: ["http://localhost:1", "http://127.1.2.3/a", "http://[::1]/", "http://[::1]:2", "https://a:1/b"])
  func `this machine, and whatever has a certificate, may be asked`(url: String) {
    #expect(AWSRole.address(url)?.hasPrefix(url) == true)
  }

  @Test(arguments: [
    [], ["--role-arn", "developer"], ["--role-arn", "arn:aws:iam::1:role/a\nb-------"],
    ["--role-arn", arn, "--session-name", "a"], ["--role-arn", arn, "--session-name", "a b"],
    ["--role-arn", arn, "--duration", "899"], ["--role-arn", arn, "--duration", "43201"],
    ["--role-arn", arn, "--sts-url", "http://sts.example/"],
  ]) func `what AWS would not take is a usage failure`(words: [String]) {
    #expect { try role(words) } throws: { ($0 as? CommandFailure)?.exitCode == .usage }
  }

  @Test func `the form is escaped, and curl is told all of it on its standard input`() throws {
    let chosen = try role(["--role-arn", Self.arn, "--session-name", "a@b", "--duration", "900"])
    var bytes = Array("x\"y\\z%\n".utf8)
    let form = try #require(chosen.form(try Secret(wiping: &bytes)))
    let expected =
      "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A123456789012%3Arole%2Fdeveloper"
      + "&RoleSessionName=a%40b&DurationSeconds=900&WebIdentityToken=x%22y%5Cz%25%0A"
    #expect(String(decoding: form, as: UTF8.self) == expected)
    var long = [UInt8](repeating: UInt8(ascii: "a"), count: AWSRole.longestToken + 1)
    #expect(chosen.form(try Secret(wiping: &long)) == nil)

    // It is looked for, and not run.
    let scratch = Scratch()
    try scratch.write("", to: "curl")
    #expect(chmod(scratch.file("curl"), 0o700) == 0)
    let environment = ["PATH": scratch.path, "AWS_CA_BUNDLE": "/a\"b"]
    let settings = try AWSExchange(of: chosen, environment).settings(form, 9)
    let lines = String(decoding: settings, as: UTF8.self).split(separator: "\n").map(String.init)
    #expect(lines.first == "url = \"https://sts.amazonaws.com/\"" && lines.last == "data = \"\(expected)\"")
    #expect(lines.contains("proto = \"=https\"") && lines.contains("max-redirs = 0"))
    #expect(lines.contains("cacert = \"/a\\\"b\"") && !lines.contains { $0.hasPrefix("noproxy") })
    #expect(throws: CommandFailure.self) { try AWSExchange(of: chosen, ["PATH": "/proc/nonexistent"]) }
  }
}

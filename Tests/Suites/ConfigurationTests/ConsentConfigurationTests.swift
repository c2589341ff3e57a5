import BrokerCore
import Configuration
import ConfigurationFile
import TestSupport
import Testing

/// Rules by which the owner is asked, and the way in which that is done.
@Suite(.standardTimeLimit) struct ConsentConfigurationTests {
  private static func parse(_ text: String) throws(ConfigurationError) -> BrokerConfiguration {
    try BrokerConfiguration.parse(Array(text.utf8), file: "c", environment: [:])
  }

  @Test func `a rule asks never, once or always, and the times have defaults`() throws {
    let plain = try Self.parse("{access:{rules:[{}]}}")
    #expect(plain.access?.map(\.allowance.confirmation) == [.never])
    #expect(plain.consent.rules == ConsentRules(patience: .seconds(20), remember: .seconds(600)))
    #expect(plain.consent.command.isEmpty && plain.consent == BrokerConfiguration.standard.consent)
    let text =
      "{access:{rules:[{confirm:'once'},{confirm:'always'},{confirm:'never'}],"
      + "confirm:{command:['ask','${profile}: ${event}'],timeoutSeconds:5,rememberSeconds:0}}}"
    let asking = try Self.parse(text)
    #expect(asking.access?.map(\.allowance.confirmation) == [.once, .always, .never])
    #expect(asking.consent.rules == ConsentRules(patience: .seconds(5), remember: .zero))
    #expect(asking.consent.command == ["ask", "${profile}: ${event}"])
    // A change of these alone is a change.
    #expect(plain != asking)
  }

  @Test func `a limited socket remembers consents for what forwards it where it says so`() throws {
    let sockets = try Self.parse(
      "{sockets:{far:{profiles:['default']},near:{profiles:['default'],remember:true}}}"
    ).sockets
    #expect(sockets.map(\.ceiling.remembersForwarded) == [false, true])
    // It is the same socket all the same: no client of it is disconnected for that.
    var other = sockets[0]
    other.ceiling.remembersForwarded = true
    #expect(other.listensAsDoes(sockets[0]))
  }

  @Test(arguments: [
    ("{access:{rules:[{confirm:'ever'}]}}", "access.rules[0].confirm"),
    ("{access:{rules:[{confirm:true}]}}", "access.rules[0].confirm"),
    ("{access:{rules:[{ask:'once'}]}}", #"did you mean "confirm"?"#),
    ("{access:{confirm:{timeoutSeconds:0}}}", "access.confirm.timeoutSeconds"),
    ("{access:{confirm:{rememberSeconds:43201}}}", "access.confirm.rememberSeconds"),
    ("{access:{confirm:{rememberSeconds:'10m'}}}", "access.confirm.rememberSeconds"),
    ("{access:{confirm:{command:['bin/ask']}}}", "must begin with a program: its name, or its absolute path"),
    ("{access:{confirm:{command:[]}}}", "access.confirm.command"),
    ("{access:{confirm:{timeout:5}}}", #"did you mean "timeoutSeconds"?"#),
    ("{access:{confirm:'once'}}", "access.confirm"),
    ("{sockets:{a:{profiles:['default'],remember:600}}}", "sockets.a.remember"),
  ]) func `what is none is a mistake that says where it is`(_ text: String, _ words: String) {
    let error = #expect(throws: ConfigurationError.self) { try Self.parse(text) }
    #expect(error?.description.contains(words) == true, "\(error?.description ?? "none")")
  }
}

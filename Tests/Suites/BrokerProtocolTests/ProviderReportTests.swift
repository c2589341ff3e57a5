import BrokerProtocol
import JSON
import TestSupport
import Testing

/// What a report of a provider is worth.
@Suite(.standardTimeLimit) struct ProviderReportTests {
  private func report(skew: Int? = nil, status: Int? = nil) -> ProviderReport {
    var report = ProviderReport(profile: .default, provider: "rest", isReachable: true, message: "")
    report.clockSkew = skew.map { .seconds($0) }
    report.status = status
    return report
  }

  @Test(arguments: [(nil, false), (0, false), (30, false), (-30, false), (31, true), (-31, true)])
  func `a clock is wrong from more than thirty seconds on, either way`(_ skew: Int?, _ isWrong: Bool) {
    #expect(report(skew: skew).isClockWrong == isWrong)
  }

  @Test(arguments: [(nil, false), (200, false), (401, false), (404, false), (429, true), (499, false), (503, true)])
  func `a refusal is no trouble, a server that cannot work is`(_ status: Int?, _ isTroubled: Bool) {
    #expect(report(status: status).isTroubled == isTroubled)
  }

  @Test(arguments: [
    #""clockSkewSeconds":1e300"#, #""clockSkewSeconds":"1""#, #""roundTripSeconds":-1"#, #""status":1.5"#,
  ])
  func `numbers that no provider can have are refused`(_ member: String) throws {
    let text = #"{"profile":"a","provider":"rest","reachable":true,"message":"",\#(member)}"#
    #expect(throws: JSONMismatch.self) { try ProviderReport(from: try JSONDocument(text).root) }
  }
}

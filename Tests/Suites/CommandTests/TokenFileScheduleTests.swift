import TestSupport
import Testing

@testable import authbroker

/// When a token file is written again.
@Suite(.standardTimeLimit) struct TokenFileScheduleTests {
  @Test(arguments: [3600, 900, 721]) func `a long token is replaced while it still lives for ten minutes`(life: Int) {
    var schedule = TokenFileSchedule()
    let life = Duration.seconds(life)
    let needsFresh = schedule.note(life, isFresh: false)
    #expect(!needsFresh)
    let left = life - schedule.pause(life)
    #expect(left >= TokenFileSchedule.leastLife && !schedule.isShort)
    #expect(schedule.wanted >= left)
  }

  @Test(arguments: [4, 60, 300, 660, 719]) func `a short token is replaced before half of its life is over`(life: Int) {
    var schedule = TokenFileSchedule()
    let life = Duration.seconds(life)
    // How long such tokens live is known only from one that was issued now.
    var needsFresh = schedule.note(life / 2, isFresh: false)
    if needsFresh { needsFresh = schedule.note(life, isFresh: true) }
    #expect(!needsFresh)
    #expect(schedule.isShort && schedule.lifetime == life)
    #expect(schedule.pause(life) <= life / 2)
    #expect(schedule.wanted > life / 2)
    needsFresh = schedule.note(life / 3, isFresh: false)
    #expect(!needsFresh)
    #expect(schedule.pause(life / 3) <= max(life / 12, .seconds(1)))
  }

  @Test func `an identity token that a refresh does not renew is left until it expires`() {
    var schedule = TokenFileSchedule(isRefreshedByOthers: false)
    var needsFresh = schedule.note(.seconds(300), isFresh: false)
    #expect(needsFresh)
    needsFresh = schedule.note(.seconds(299), isFresh: true, isRenewed: false)
    #expect(!needsFresh)
    #expect(schedule.isFixed && schedule.pause(.seconds(299)) == .seconds(299))
    needsFresh = schedule.note(.seconds(200), isFresh: false)
    #expect(!needsFresh)
  }

  @Test func `a token that could not be renewed is asked for again soon`() {
    var schedule = TokenFileSchedule()
    var needsFresh = schedule.note(.seconds(3600), isFresh: false)
    #expect(!needsFresh)
    needsFresh = schedule.note(.seconds(100), isFresh: false)
    #expect(!needsFresh)
    #expect(schedule.pause(.seconds(100)) == .seconds(15))
    #expect(schedule.pause(.seconds(-5)) == .seconds(1))
  }
}

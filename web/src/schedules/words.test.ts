import assert from 'node:assert/strict'
import test from 'node:test'

import { ruleWords } from './words'

const CRON: [string, string, string][] = [
  ['0 9 * * MON-FRI', 'At 09:00, Monday to Friday', '周一至周五 09:00'],
  ['30 2 * * *', 'At 02:30, every day', '每天 02:30'],
  ['@daily', 'At 00:00, every day', '每天 00:00'],
  ['@hourly', 'At minute 0 of every hour', '每小时第 0 分'],
  ['*/15 8-17 * * *', 'Every 15 minutes from 08:00 to 17:59', '08:00 至 17:59，每 15 分钟'],
  ['*/15 * * * *', 'Every 15 minutes', '每 15 分钟'],
  ['* * * * *', 'Every minute', '每分钟'],
  ['*/20 * * * * *', 'Every 20 seconds', '每 20 秒'],
  ['*/20 30 9 * * *', 'At 09:30:00, 09:30:20 and 09:30:40, every day', '每天 09:30:00、09:30:20 和 09:30:40'],
  ['0 0 1,15,L * *', 'At 00:00 on the 1st, the 15th and the last day of the month', '每月 1 日、15 日和最后一天 00:00'],
  ['0 12 15W * *', 'At 12:00 on the working day nearest to the 15th of the month', '每月离 15 日最近的工作日 12:00'],
  ['0 8 * * FRIL', 'At 08:00 on the last Friday of the month', '每月最后一个周五 08:00'],
  ['30 18 * * TUE#2', 'At 18:30 on the second Tuesday of the month', '每月第二个周二 18:30'],
  ['0 8 * * MON-TUE#L', 'At 08:00 on the last Monday and the last Tuesday of the month', '每月最后一个周一和最后一个周二 08:00'],
  ['0 0 13 * FRI', 'At 00:00 on the 13th of the month and on Friday', '每月 13 日以及周五 00:00'],
  ['0 0 */10 * SUN', 'At 00:00 on the 1st, the 11th, the 21st and the 31st of the month, if it is a Sunday', '每月 1 日、11 日、21 日和 31 日且为周日 00:00'],
  ['0 0 9 ? * 2', 'At 09:00 on Monday', '周一 09:00'],
  ['0 0 12 L-2 * ?', 'At 12:00 on the 3rd last day of the month', '每月倒数第 3 天 12:00'],
  ['0 0 0 1 1 ? 2027-2028', 'At 00:00 on the 1st of January 2027 and 2028', '2027 和 2028 年 1 月 1 日 00:00'],
  ['0 6 1 JAN,APR,JUL,OCT *', 'At 06:00 on the 1st of January, April, July and October', '1 月、4 月、7 月和 10 月 1 日 06:00'],
  ['0 22-2/2 * * *', 'At 00:00, 02:00 and 22:00, every day', '每天 00:00、02:00 和 22:00'],
  ['30 * * * *', 'At minute 30 of every hour', '每小时第 30 分'],
  ['0 */2 * * *', 'At minute 0 every 2 hours', '每 2 小时，第 0 分'],
  ['0 0 * * SAT,SUN', 'At 00:00 on Saturday and Sunday', '周六和周日 00:00'],
]
for (const [rule, en, zh] of CRON) {
  test(`cron in words: ${rule}`, () => {
    assert.equal(ruleWords({ cron: rule }, 'en'), en)
    assert.equal(ruleWords({ cron: rule }, 'zh'), zh)
  })
}

test('other rules in words', () => {
  const both = (rule: Parameters<typeof ruleWords>[0]) => [ruleWords(rule, 'en'), ruleWords(rule, 'zh')]
  assert.deepEqual(both({ every_ms: 10_000 }), ['Every 10 seconds', '每 10 秒'])
  assert.deepEqual(both({ every_ms: 3_600_000 }), ['Every hour', '每小时'])
  assert.deepEqual(both({ every_ms: 5_400_000 }), ['Every 1 hour 30 minutes', '每 1 小时 30 分钟'])
  assert.deepEqual(both({ iso: 'R/2026-01-31T09:00:00/P1M' }), ['Every month from 2026-01-31 09:00:00', '每月，从 2026-01-31 09:00:00 起'])
  assert.deepEqual(both({ iso: 'R5/2026-01-01T00:00:00Z/PT1H' }), ['Every hour from 2026-01-01 00:00:00Z, 5 times', '每小时，从 2026-01-01 00:00:00Z 起，共 5 次'])
  assert.deepEqual(both({ at: '2027-01-01T06:00:00' }), ['Once, at 2027-01-01 06:00:00', '一次，2027-01-01 06:00:00'])
})

test('what is not understood has no words', () => {
  for (const rule of ['', '0 24 * * *', '* * * *', '@every 5m', 'H * * * *', '0 9 * * MONDAY', '0 0 ? * ?']) {
    assert.equal(ruleWords({ cron: rule }, 'en'), null, rule)
  }
  assert.equal(ruleWords({ iso: 'R5/PT1H/2026' }, 'en'), null)
})

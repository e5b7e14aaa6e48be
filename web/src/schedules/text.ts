// The words of the pages of schedules.
import type { RuleWords, Schedule, ScheduleSettings } from '../api/openapi'
import { dictionary, language, plural } from '../i18n/language'
import { formatDuration, formatNumber as n } from '../ui/format'

export const t = dictionary(
  {
    title: 'Schedules', about: 'A schedule creates messages at the times of a rule.', create: 'New schedule', list: 'Schedules by name',
    none: 'No schedules.', noneHint: 'A schedule creates a message at each time of a rule, such as nine on working days.',
    rule: 'Rule', next: 'Next run', lastRun: 'Last run', zone: 'Time zone', all: 'All schedules',
    active: 'active', paused: 'paused', ended: 'ended', invalidZone: 'invalid zone',
    blocked: (code: string) => `Waits: ${code}`,
    blockedLong: (code: string) => `A run is due and cannot be created yet, because of ${code}. The server tries again by itself.`,
    zoneGone: 'The time zone is no longer in the server’s zone data. Edit the schedule and choose another zone.',

    nextRuns: 'Next runs', more: 'Show more', local: 'Local time', yours: 'Your time', number: 'Number', about_: 'Remarks',
    shifted: 'Clocks go forward', shiftedAbout: 'This local time does not exist on that day. The run moves to the end of the gap.',
    firstPass: 'Clocks go back', firstPassAbout: 'This local time occurs twice on that day. This is the first time.',
    secondPass: 'Clocks go back', secondPassAbout: 'This local time occurs twice on that day. This is the second time.',
    closedDay: 'Closed day', skippedTime: 'Skipped: clocks go forward', repeatedTime: 'Skipped: repeated local time',
    noRun: 'no run', offsetChange: (offset: string) => `Offset is now ${offset}`, jittered: (text: string) => `due ${text} later (jitter)`,
    laterChanges: 'Later, around clock changes', noTimes: 'There are no more times.', ofPause: 'The schedule is paused. These are the times after a resume.',

    made: 'Created', late: 'Of these late', manual: 'Fired manually', skipped: 'Skipped', merged: 'Merged',
    madeHint: 'by the rule', mergedHint: 'into another run', lastAndSkipped: 'Past runs',
    waitingRun: 'Waiting run', waitingRunAbout: 'waits until the previous run has ended',
    lastSkipped: 'Last skipped', noneYet: 'None yet.', gone: 'ended longer ago than outcomes are kept',
    skippedWhat: (count: number) => `${n(count)} ${plural(count, 'time', 'times')}`, from: 'from', to: 'to',
    reasonMissed: 'missed: the server was down or could not create them in time', reasonTooOld: 'older than the misfire window', reasonPaused: 'during a pause', reasonOverlap: 'the previous run had not ended',

    settings: 'Settings', content: 'Content of the runs', closed: 'Closed days', start: 'Start', end: 'End', times: 'Number of times', jitter: 'Jitter', misfire: 'Missed times',
    window: 'Misfire window', overlap: 'Overlap', dst: 'When clocks go forward', dstRepeat: 'When clocks go back', created: 'Created', zoneData: 'Zone data', contentType: 'Media type', expiresIn: 'Expires after',
    misfireOnce: 'one run for all of them', misfireAll: 'a run for each', misfireSkip: 'no run',
    overlapAllow: 'a run is created although the previous one is unfinished', overlapSkip: 'no run while the previous one is unfinished', overlapQueueOne: 'one run waits until the previous one has ended',
    dstShift: 'a skipped local time runs at the end of the gap', dstSkip: 'a skipped local time has no run', repeatFirst: 'a repeated local time runs once, the first time', repeatBoth: 'a repeated local time runs twice',

    pause: 'Pause', resume: 'Resume', fire: 'Fire now', edit: 'Edit', remove: 'Delete',
    pausedDone: (name: string) => `Paused ${name}: it creates no runs.`, resumedDone: (name: string) => `Resumed ${name}: it continues with its next time.`,
    firedDone: (id: string) => `A run was created: message ${id}.`,
    removeTitle: 'Delete the schedule?', removeWhat: 'One schedule is deleted and creates no more runs. Messages that it has created stay. This cannot be undone.', removed: 'The schedule was deleted.', removedNot: 'The schedule did not exist any more.',
    fireTitle: 'Create a run now?', fireWhat: (queue: string) => `One message is created in the queue ${queue}. It is due at once. The times of the rule do not change.`,
  },
  {
    title: '定时任务', about: '定时任务按规则的时间创建消息。', create: '新建定时任务', list: '按名称排列的定时任务',
    none: '没有定时任务。', noneHint: '定时任务在规则的每个时间创建一条消息，例如工作日九点。',
    rule: '规则', next: '下次运行', lastRun: '上次运行', zone: '时区', all: '全部定时任务',
    active: '启用', paused: '已暂停', ended: '已结束', invalidZone: '时区无效',
    blocked: (code: string) => `等待：${code}`,
    blockedLong: (code: string) => `有一次运行已到期，但因 ${code} 暂时无法创建，服务器会自动重试。`,
    zoneGone: '服务器的时区数据中已没有此时区。请编辑定时任务并选择其他时区。',

    nextRuns: '接下来的运行', more: '显示更多', local: '当地时间', yours: '您的时间', number: '序号', about_: '说明',
    shifted: '时钟拨快', shiftedAbout: '当天不存在该当地时间，运行移到空缺结束时。',
    firstPass: '时钟拨慢', firstPassAbout: '当天该当地时间出现两次，这是第一次。',
    secondPass: '时钟拨慢', secondPassAbout: '当天该当地时间出现两次，这是第二次。',
    closedDay: '排除日', skippedTime: '跳过：时钟拨快', repeatedTime: '跳过：重复的当地时间',
    noRun: '不运行', offsetChange: (offset: string) => `时差变为 ${offset}`, jittered: (text: string) => `推迟 ${text} 到期（抖动）`,
    laterChanges: '之后的时钟调整前后', noTimes: '没有更多时间。', ofPause: '定时任务已暂停，以下是恢复后的时间。',

    made: '已创建', late: '其中迟到', manual: '手动触发', skipped: '已跳过', merged: '已合并',
    madeHint: '按规则', mergedHint: '并入另一次运行', lastAndSkipped: '过去的运行',
    waitingRun: '等待中的运行', waitingRunAbout: '等待上一次运行结束',
    lastSkipped: '最近跳过', noneYet: '暂无。', gone: '结束时间早于结果保留期',
    skippedWhat: (count: number) => `${n(count)} 次`, from: '从', to: '至',
    reasonMissed: '错过：服务器停机或未能及时创建', reasonTooOld: '超出补偿窗口', reasonPaused: '暂停期间', reasonOverlap: '上一次运行尚未结束',

    settings: '设置', content: '运行的内容', closed: '排除日', start: '开始', end: '结束', times: '次数', jitter: '抖动', misfire: '错过的时间',
    window: '补偿窗口', overlap: '重叠', dst: '时钟拨快时', dstRepeat: '时钟拨慢时', created: '创建时间', zoneData: '时区数据', contentType: '媒体类型', expiresIn: '过期时间',
    misfireOnce: '全部合并为一次运行', misfireAll: '每个时间各运行一次', misfireSkip: '不运行',
    overlapAllow: '即使上一次运行未完成也创建', overlapSkip: '上一次运行未完成时不创建', overlapQueueOne: '保留一次运行，等上一次结束后创建',
    dstShift: '被跳过的当地时间在空缺结束时运行', dstSkip: '被跳过的当地时间不运行', repeatFirst: '重复的当地时间只运行第一次', repeatBoth: '重复的当地时间运行两次',

    pause: '暂停', resume: '恢复', fire: '立即触发', edit: '编辑', remove: '删除',
    pausedDone: (name: string) => `已暂停 ${name}，不再创建运行。`, resumedDone: (name: string) => `已恢复 ${name}，从下一个时间继续。`,
    firedDone: (id: string) => `已创建一次运行：消息 ${id}。`,
    removeTitle: '删除定时任务？', removeWhat: '将删除一个定时任务，不再创建运行。已创建的消息保留。此操作无法撤销。', removed: '定时任务已删除。', removedNot: '定时任务已不存在。',
    fireTitle: '立即创建一次运行？', fireWhat: (queue: string) => `将在队列 ${queue} 中创建一条消息，立即到期。规则的时间不变。`,
  },
)

export function stateWords(state: Schedule['state']): string {
  return { active: t.active, paused: t.paused, ended: t.ended, invalid_zone: t.invalidZone }[state]
}

export function skippedReason(reason: NonNullable<Schedule['last_skipped']>['reason']): string {
  return { missed: t.reasonMissed, too_old: t.reasonTooOld, paused: t.reasonPaused, overlap: t.reasonOverlap }[reason]
}

/** The rule as it is written. */
export function ruleText(settings: Partial<ScheduleSettings>): string {
  return settings.cron ?? settings.iso ?? settings.at ?? (settings.every_ms === undefined ? '' : formatDuration(settings.every_ms))
}

/** The rule in words, without zone, closed days and bounds. */
export function ruleInWords({ words }: { words: RuleWords }): string {
  return words[language.value]
}

// Words that several pages use.
import { dictionary, plural } from './language'
import { formatNumber } from '../ui/format'

export const terms = dictionary(
  {
    queue: 'Queue', queues: 'Queues', message: 'Message', messages: 'Messages', schedule: 'Schedule', watchdog: 'Watchdog',
    namespace: 'Namespace', group: 'Group', state: 'State', due: 'Due', attempts: 'Attempts', priority: 'Priority', reason: 'Reason',
    pending: 'Pending', scheduled: 'Scheduled', ready: 'Ready', leased: 'Leased', retrying: 'Retrying', held: 'Held',
    prepared: 'Prepared', dead: 'Dead', done: 'Done', cancelled: 'Cancelled', expired: 'Expired', paused: 'Paused',
    deadLetters: 'Dead letters', consumers: 'Consumers', lateness: 'Lateness', target: 'Target', settings: 'Settings',
    close: 'Close', cancel: 'Cancel', save: 'Save', search: 'Search', loading: 'Loading…', none: 'none', yes: 'yes', no: 'no',
    previous: 'Previous', next: 'Next', tryAgain: 'Try again', actions: 'Actions', showLess: 'Show less',
    id: 'Id', key: 'Key', pause: 'Pause', resume: 'Resume', optional: 'optional',
    countMessages: (n: number) => `${formatNumber(n)} ${plural(n, 'message', 'messages')}`,
    countDead: (n: number) => `${formatNumber(n)} ${plural(n, 'dead letter', 'dead letters')}`,
    countQueues: (n: number) => `${formatNumber(n)} ${plural(n, 'queue', 'queues')}`,
    perSecond: (text: string) => `${text}/s`,
  },
  {
    queue: '队列', queues: '队列', message: '消息', messages: '消息', schedule: '定时任务', watchdog: '看门狗',
    namespace: '命名空间', group: '分组', state: '状态', due: '到期时间', attempts: '投递次数', priority: '优先级', reason: '原因',
    pending: '待处理', scheduled: '已排期', ready: '就绪', leased: '已租出', retrying: '重试中', held: '已扣留',
    prepared: '已预备', dead: '死信', done: '已完成', cancelled: '已取消', expired: '已过期', paused: '已暂停',
    deadLetters: '死信', consumers: '消费者', lateness: '滞后', target: '目标', settings: '设置',
    close: '关闭', cancel: '取消', save: '保存', search: '搜索', loading: '加载中…', none: '无', yes: '是', no: '否',
    previous: '上一页', next: '下一页', tryAgain: '重试', actions: '操作', showLess: '收起',
    id: 'ID', key: '键', pause: '暂停', resume: '恢复', optional: '可选',
    countMessages: (n: number) => `${formatNumber(n)} 条消息`,
    countDead: (n: number) => `${formatNumber(n)} 条死信`,
    countQueues: (n: number) => `${formatNumber(n)} 个队列`,
    perSecond: (text: string) => `${text}/秒`,
  },
)

// The words of the page of the server's health.
import { dictionary, plural } from '../i18n/language'
import { formatNumber as n } from '../ui/format'

export const t = dictionary(
  {
    title: 'Health', about: 'Whether the server is well: its clock, its disk, its log, and what it connects to.',
    ready: 'The server is ready.', notReady: 'The server is not ready.', readyBut: 'The server is ready, with a remark:',
    clock: 'Clock', state: 'State', serverTime: 'Server time', wallClock: 'Wall clock', ahead: 'Wall clock ahead', behind: 'Wall clock behind', jumps: 'Jumps since the start', onJump: 'Jumps of more than 24 hours', onJumpHold: 'held until accepted', onJumpAccept: 'accepted',
    steady: 'steady', slow: 'slow', quarantine: 'in quarantine', held: 'held', test: 'test clock',
    steadyAbout: 'Server time follows the wall clock of the machine.', slowAbout: 'The wall clock was set back. Server time runs a tenth slower until the wall clock has caught up.',
    quarantineAbout: 'The wall clock was set ahead. Server time continues for a minute; then it jumps if the wall clock is still ahead.',
    heldAbout: 'The wall clock was set far ahead, and server time continues without it. If the wall clock is right, accept it. Otherwise correct it.', testAbout: 'Server time moves only when a test advances it. Never use this in production.',
    accept: 'Accept the wall clock', acceptTitle: 'Accept the wall clock?',
    acceptWhat: (jump: string, to: string) => `Server time jumps ahead by ${jump}, to ${to}. It never goes back.`,
    acceptDue: (count: number, more: boolean) => `${more ? 'At least ' : ''}${n(count)} ${plural(count, 'message', 'messages')} of this namespace ${plural(count, 'becomes', 'become')} due at once. Leases end, and schedules treat the times in between as missed.`,
    accepted: 'The wall clock was accepted.',
    store: 'Disk and store', diskFree: 'Free on disk', logSize: 'Log', liveShare: 'in use', index: 'Index', segments: 'Segments not indexed yet', spare: 'Spare segments', puts: 'Puts', putsOk: 'accepted', putsStalled: 'wait for the index', putsRefused: 'refused: the disk is full', reserveOnly: 'Only the reserve is left: calls that end no message are refused too.',
    storeFull: 'Free space is below the floor, so puts are refused. Free disk space: end messages, or remove other files. Accepted messages are not lost.', compaction: 'Compaction', running: 'running', idle: 'idle', inMemory: 'Messages in memory', memory: 'Memory that they use', loadedUntil: 'Read from disk up to',
    limits: 'Limits', limitsAbout: 'The limits with the largest share in use.', limit: 'Limit', use: 'In use', share: 'Share', noLimits: 'No limit is in use.',
    kafka: 'Kafka', brokers: 'Brokers connected', sent: 'Records sent', refused: 'Refused by Kafka', failed: 'Failed', inFlight: 'In flight', backingOff: 'Queues that back off', records: 'Records received', errors: 'Records in the errors topic',
    partitions: 'Partitions of input topics', topic: 'Topic', partition: 'Partition', position: 'Position', lag: 'Lag', reading: 'reading', waiting: 'waiting', stopped: 'stopped',
    warnings: 'Recent warnings', warningsAbout: 'Lines of the log of level warning and error, newest first.', noWarnings: 'No warnings since this page was opened.', noEvents: 'The server does not send events now, so its warnings are not shown here. Its log has them.', time: 'Time', event: 'Event', what: 'What happened',
  },
  {
    title: '健康状况', about: '服务器是否正常：时钟、磁盘、日志以及外部连接。',
    ready: '服务器就绪。', notReady: '服务器未就绪。', readyBut: '服务器就绪，但请注意：',
    clock: '时钟', state: '状态', serverTime: '服务器时间', wallClock: '系统时钟', ahead: '系统时钟超前', behind: '系统时钟落后', jumps: '启动以来的跳跃', onJump: '超过 24 小时的跳跃', onJumpHold: '挂起，等待接受', onJumpAccept: '自动接受',
    steady: '稳定', slow: '减速', quarantine: '观察中', held: '已挂起', test: '测试时钟',
    steadyAbout: '服务器时间跟随机器的系统时钟。', slowAbout: '系统时钟被回拨。服务器时间放慢十分之一，直到系统时钟追上。',
    quarantineAbout: '系统时钟被拨快。服务器时间继续走一分钟，若系统时钟仍然超前则跳跃。',
    heldAbout: '系统时钟被大幅拨快，服务器时间不再跟随。如果系统时钟正确，请接受；否则请校正。', testAbout: '服务器时间只在测试推进时移动。切勿用于生产环境。',
    accept: '接受系统时钟', acceptTitle: '接受系统时钟？',
    acceptWhat: (jump: string, to: string) => `服务器时间将向前跳跃 ${jump}，到 ${to}，并且不会后退。`,
    acceptDue: (count: number, more: boolean) => `此命名空间${more ? '至少' : ''}有 ${n(count)} 条消息将立即到期。租约会结束，定时任务将其间的时间视为错过。`,
    accepted: '已接受系统时钟。',
    store: '磁盘与存储', diskFree: '磁盘可用', logSize: '日志', liveShare: '有效', index: '索引', segments: '尚未索引的段', spare: '备用段', puts: '写入', putsOk: '正常接收', putsStalled: '等待索引', putsRefused: '被拒绝：磁盘已满', reserveOnly: '仅剩保留空间：不结束消息的调用也会被拒绝。',
    storeFull: '可用空间低于下限，因此拒绝写入新消息。请释放磁盘空间：结束消息或删除其他文件。已接收的消息不会丢失。', compaction: '压缩', running: '进行中', idle: '空闲', inMemory: '内存中的消息', memory: '占用内存', loadedUntil: '已从磁盘读到',
    limits: '限制', limitsAbout: '占用比例最大的限制。', limit: '限制', use: '已用', share: '比例', noLimits: '没有限制在使用中。',
    kafka: 'Kafka', brokers: '已连接的 broker', sent: '已发送记录', refused: '被 Kafka 拒绝', failed: '失败', inFlight: '发送中', backingOff: '退避中的队列', records: '已接收记录', errors: '错误主题中的记录',
    partitions: '输入主题的分区', topic: '主题', partition: '分区', position: '位置', lag: '积压', reading: '读取中', waiting: '等待', stopped: '已停止',
    warnings: '最近的警告', warningsAbout: '日志中警告和错误级别的行，最新的在前。', noWarnings: '打开此页面以来没有警告。', noEvents: '服务器目前不推送事件，因此这里不显示警告，请查看其日志。', time: '时间', event: '事件', what: '内容',
  },
)

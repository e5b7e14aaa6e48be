// The words of the wheel page.
import { dictionary, plural } from '../i18n/language'
import { formatNumber as n } from '../ui/format'

export const t = dictionary(
  {
    title: 'The wheel',
    about: 'How the server keeps millions of timers: as levels of slots, like the hands of a clock.',
    demo: 'Demonstration', live: 'This server', mode: 'What is shown',
    level: 'Level', slotWidth: 'Slot width', reachesTo: 'Reaches to', timers: 'Timers', slotsInUse: 'Slots in use',
    tableCaption: 'The levels of the wheel', legend: (level: number, span: string) => `Level ${level}: ${span} a slot`,
    asTable: 'The levels as a table',
    ticks: (count: number) => `${n(count)} ${plural(count, 'tick', 'ticks')}`,
    tick: 'tick', serverTime: 'server time',
    slotTitle: (level: number, from: string, to: string, count: number) =>
      `Level ${level}, ${from === to ? from : `${from} to ${to}`}: ${n(count)} ${plural(count, 'timer', 'timers')}`,
    summary: (now: string, count: number, levels: string) => `The wheel at ${now}: ${n(count)} ${plural(count, 'timer', 'timers')}. ${levels}`,
    summaryLevel: (level: number, count: number) => `Level ${level}: ${n(count)}.`,

    play: 'Play', pause: 'Pause', step: 'Step', skip: 'To next expiry', restart: 'Start over',
    speed: 'Speed', perSecond: (ticks: number) => `${ticks} ${plural(ticks, 'tick', 'ticks')} a second`,
    load: 'Random load',
    delay: 'Delay in ticks', delayHint: (max: number) => `1 to ${n(max)}. A click on a slot adds a timer that is due in it.`,
    add: 'Add timer',
    keys: 'Keys: space plays and pauses, → makes one step, E skips to the next expiry.',
    pendingNow: 'Pending', firedSoFar: 'Fired', movesSoFar: 'Moves',

    follow: 'The timer you follow', followNone: 'Follow a timer: click its dot, or choose it here.', choose: 'Timer',
    timerName: (id: number) => `Timer ${id}`,
    option: (id: number, deadline: number) => `Timer ${id}, due at ${n(deadline)}`,
    dueIn: (deadline: number, left: number) => `Due at ${n(deadline)}, in ${n(left)} ${plural(left, 'tick', 'ticks')}.`,
    hasFired: 'It has fired.', wasCancelled: 'It was cancelled. Its entry stays in the slot until the slot is read.',
    isGone: 'It was cancelled, and its entry is gone.',
    stepStart: (level: number, from: number, to: number) => `On level ${level}, ${slotRange(from, to)}`,
    stepMove: (at: number, level: number, from: number, to: number) => `At ${n(at)} it moves to level ${level}, ${slotRange(from, to)}`,
    stepFire: (at: number) => `At ${n(at)} it fires`,
    cancelTimer: 'Cancel timer', postpone: (ticks: number) => `Postpone by ${ticks}`,
    parked: 'Its entry stays where it is, because its slot is read before the new deadline; then it is filed again.',
    late: 'It is due already, and fires with the next tick.',

    happened: 'What happens',
    nothingYet: 'Nothing has moved yet.',
    added: (id: number, deadline: number, level: number, from: number, to: number) =>
      `Timer ${id} is due at ${n(deadline)}. It goes to level ${level}, the lowest level that reaches so far, ${slotRange(from, to)}.`,
    addedLate: (id: number) => `Timer ${id} is due already, and fires with the next tick.`,
    fired: (id: number) => `Timer ${id} fires.`,
    firedMany: (count: number) => `${n(count)} timers fire.`,
    moved: (id: number, from: number, to: number, deadline: number) =>
      `Timer ${id} moves from level ${from} to level ${to}: the time is in the slot before its own, so level ${to} reaches its deadline, ${n(deadline)}.`,
    movedMany: (count: number, from: number, to: number) => `${n(count)} timers move from level ${from} to level ${to}.`,
    refiled: (id: number, to: number, deadline: number) =>
      `The slot of timer ${id} is read. It was postponed to ${n(deadline)}, so it is filed again, on level ${to}.`,
    dropped: (id: number) => `The slot with the entry of timer ${id} is read. The timer was cancelled, so the entry is dropped.`,
    droppedMany: (count: number) => `${n(count)} entries of cancelled timers are dropped.`,
    cancelled: (id: number) => `Timer ${id} is cancelled. Only its deadline is removed; its entry stays until its slot is read.`,
    postponed: (id: number, deadline: number) => `Timer ${id} is postponed to ${n(deadline)}. Only its deadline changes.`,

    howTitle: 'How it works',
    howLevels: (base: number) =>
      `Each ring is a level. A slot of level 0 is one tick; a slot of the next level is ${base} of them, and so on. A level keeps two blocks of ${base} slots: the one that contains the current time (stronger colour), and the next one.`,
    howPlace: 'A timer goes to the lowest level whose two blocks include its deadline. So one subtraction finds its slot, however many timers there are.',
    howMove: 'When the time enters the slot before that of a timer, a lower level reaches the deadline, and the timer moves down: outwards in the picture. On level 0 it fires at its tick, never early.',
    howAhead: (strip: number) =>
      `Moving is spread: a full slot moves ${strip} timers at a time while the slot before it passes. It is empty when its turn comes, so no tick has to move a whole slot.`,
    howCancel: 'Most timers are cancelled before they are due. A cancelled timer costs nothing: its entry (hollow dot) is dropped when its slot is read.',
    howServer: 'The server has 64 slots in a block and moves 62 timers at a time; a tick is a millisecond. This demonstration has 8 slots and 4 timers, to be seen. It follows the same code.',

    liveAbout: (base: number) => `The timers of this server, by when they are due. A tick is a millisecond; a block has ${base} slots.`,
    inMemory: 'Timers in memory', onlyIndexed: 'Only on disk', lateNow: 'Due already',
    onlyIndexedHint: 'due later; read into memory before they are due',
    followMessage: 'Follow a message by its id', followButton: 'Follow', followId: 'Message id',
    followDue: (due: string, left: string) => `Due ${due}, ${left}.`,
    followOn: (level: number, from: string, to: string) => `On level ${level}, in the slot from ${from} to ${to}`,
    followMove: (at: string, level: number) => `${at}: it moves to level ${level}`,
    followFire: (at: string) => `${at}: it is due`,
    followDone: (state: string) => `State of the message: ${state}. It has no timer to follow.`,
    followPlaceNote: 'Calculated from the due time; a message that was postponed, or is only on disk, may be stored elsewhere.',
    empty: 'The wheel is empty: no message waits in memory. Put one with a delay, or look at the demonstration.',
  },
  {
    title: '时间轮',
    about: '服务器如何管理数百万个定时器：分层的槽位，就像时钟的指针。',
    demo: '演示', live: '本服务器', mode: '显示内容',
    level: '层', slotWidth: '槽宽', reachesTo: '覆盖到', timers: '定时器', slotsInUse: '已用槽位',
    tableCaption: '时间轮的各层', legend: (level: number, span: string) => `第 ${level} 层：每槽 ${span}`,
    asTable: '以表格显示各层',
    ticks: (count: number) => `${n(count)} 刻`,
    tick: '刻', serverTime: '服务器时间',
    slotTitle: (level: number, from: string, to: string, count: number) =>
      `第 ${level} 层，${from === to ? from : `${from} 至 ${to}`}：${n(count)} 个定时器`,
    summary: (now: string, count: number, levels: string) => `时间轮，${now}：${n(count)} 个定时器。${levels}`,
    summaryLevel: (level: number, count: number) => `第 ${level} 层：${n(count)}。`,

    play: '播放', pause: '暂停', step: '单步', skip: '跳到下次到期', restart: '重新开始',
    speed: '速度', perSecond: (ticks: number) => `每秒 ${ticks} 刻`,
    load: '随机负载',
    delay: '延迟（刻）', delayHint: (max: number) => `1 至 ${n(max)}。点击槽位可添加在该槽到期的定时器。`,
    add: '添加定时器',
    keys: '按键：空格播放或暂停，→ 前进一刻，E 跳到下次到期。',
    pendingNow: '等待中', firedSoFar: '已触发', movesSoFar: '移动次数',

    follow: '跟踪的定时器', followNone: '跟踪一个定时器：点击圆点，或在此选择。', choose: '定时器',
    timerName: (id: number) => `定时器 ${id}`,
    option: (id: number, deadline: number) => `定时器 ${id}，${n(deadline)} 到期`,
    dueIn: (deadline: number, left: number) => `在 ${n(deadline)} 到期，还有 ${n(left)} 刻。`,
    hasFired: '已触发。', wasCancelled: '已取消。它的条目留在槽中，直到该槽被读取。',
    isGone: '已取消，条目也已移除。',
    stepStart: (level: number, from: number, to: number) => `位于第 ${level} 层，${slotRangeZh(from, to)}`,
    stepMove: (at: number, level: number, from: number, to: number) => `${n(at)} 时移到第 ${level} 层，${slotRangeZh(from, to)}`,
    stepFire: (at: number) => `${n(at)} 时触发`,
    cancelTimer: '取消定时器', postpone: (ticks: number) => `推迟 ${ticks}`,
    parked: '条目留在原处，因为该槽在新的到期时间之前会被读取；届时再重新归档。',
    late: '它已经到期，将在下一刻触发。',

    happened: '发生了什么',
    nothingYet: '还没有移动。',
    added: (id: number, deadline: number, level: number, from: number, to: number) =>
      `定时器 ${id} 在 ${n(deadline)} 到期，放入能覆盖该时间的最低层：第 ${level} 层，${slotRangeZh(from, to)}。`,
    addedLate: (id: number) => `定时器 ${id} 已经到期，将在下一刻触发。`,
    fired: (id: number) => `定时器 ${id} 触发。`,
    firedMany: (count: number) => `${n(count)} 个定时器触发。`,
    moved: (id: number, from: number, to: number, deadline: number) =>
      `定时器 ${id} 从第 ${from} 层移到第 ${to} 层：时间已进入它前面的槽，第 ${to} 层已覆盖其到期时间 ${n(deadline)}。`,
    movedMany: (count: number, from: number, to: number) => `${n(count)} 个定时器从第 ${from} 层移到第 ${to} 层。`,
    refiled: (id: number, to: number, deadline: number) => `读取定时器 ${id} 所在的槽。它已推迟到 ${n(deadline)}，因此重新归档到第 ${to} 层。`,
    dropped: (id: number) => `读取定时器 ${id} 的条目所在的槽。定时器已取消，条目被丢弃。`,
    droppedMany: (count: number) => `丢弃 ${n(count)} 个已取消定时器的条目。`,
    cancelled: (id: number) => `取消定时器 ${id}。只删除到期时间，条目留到该槽被读取为止。`,
    postponed: (id: number, deadline: number) => `定时器 ${id} 推迟到 ${n(deadline)}。只修改到期时间。`,

    howTitle: '工作原理',
    howLevels: (base: number) =>
      `每个环是一层。第 0 层的一个槽是一刻，上一层的一个槽等于下层的 ${base} 个槽，依此类推。每层有两个块，每块 ${base} 个槽：包含当前时间的块（颜色较深）和下一个块。`,
    howPlace: '定时器放入两个块能覆盖其到期时间的最低层。因此无论有多少定时器，一次计算就能找到槽位。',
    howMove: '当时间进入定时器所在槽的前一个槽时，更低的层已能覆盖其到期时间，定时器便下移（在图中向外）。到了第 0 层，它在到期的那一刻触发，绝不提前。',
    howAhead: (strip: number) => `移动是分散的：一个满的槽每次移动 ${strip} 个定时器，在前一个槽经过期间完成。轮到它时已是空的，因此没有哪一刻需要移动整个槽。`,
    howCancel: '大多数定时器在到期前就被取消。取消几乎没有代价：条目（空心圆点）在其槽被读取时丢弃。',
    howServer: '服务器每块 64 个槽，每次移动 62 个定时器，一刻为一毫秒。为便于观察，演示使用 8 个槽和 4 个定时器，逻辑与服务器代码相同。',

    liveAbout: (base: number) => `本服务器的定时器，按到期时间排列。一刻为一毫秒，每块 ${base} 个槽。`,
    inMemory: '内存中的定时器', onlyIndexed: '仅在磁盘上', lateNow: '已到期',
    onlyIndexedHint: '到期较晚，到期前会读入内存',
    followMessage: '按 ID 跟踪消息', followButton: '跟踪', followId: '消息 ID',
    followDue: (due: string, left: string) => `${due} 到期，${left}。`,
    followOn: (level: number, from: string, to: string) => `位于第 ${level} 层，槽位从 ${from} 至 ${to}`,
    followMove: (at: string, level: number) => `${at}：移到第 ${level} 层`,
    followFire: (at: string) => `${at}：到期`,
    followDone: (state: string) => `消息状态：${state}。没有可跟踪的定时器。`,
    followPlaceNote: '由到期时间计算得出；推迟过的消息或仅在磁盘上的消息可能存放在别处。',
    empty: '时间轮是空的：内存中没有等待的消息。可放入一条带延迟的消息，或查看演示。',
  },
)

function slotRange(from: number, to: number): string {
  return from === to ? `slot ${n(from)}` : `slot ${n(from)} to ${n(to)}`
}

function slotRangeZh(from: number, to: number): string {
  return from === to ? `槽 ${n(from)}` : `槽 ${n(from)} 至 ${n(to)}`
}

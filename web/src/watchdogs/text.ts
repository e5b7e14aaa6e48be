// The words of the pages of watchdogs.
import { dictionary } from '../i18n/language'

export const t = dictionary(
  {
    title: 'Watchdogs', about: 'A watchdog creates a message when no feed arrives in time: for jobs that must run, and devices that must report.', list: 'Watchdogs by name', create: 'New watchdog', all: 'All watchdogs',
    none: 'No watchdogs.', noneHint: 'A job feeds its watchdog each time it has run. If it does not run, the watchdog creates a message.',
    armed: 'armed', asleep: 'asleep', asleepAbout: 'It has fired and sleeps until it is fed.', firing: 'fires again', overdue: 'overdue', blocked: (code: string) => `Waits: ${code}`,
    blockedLong: (code: string) => `Its message cannot be created yet, because of ${code}. The server tries again by itself.`,
    overdueLong: 'It was due, and was fed before its message could be created. The message is created as soon as its queue accepts it.',
    fires: 'Fires', lastFed: 'Last fed', lastFired: 'Last fired', timeout: 'Timeout', max: 'At the latest', repeat: 'Fires again every', feeds: 'Feeds', fired: 'Fired', merged: 'Merged', mergedHint: 'due times in another message', created: 'Created',
    feed: 'Feed', fedDone: (name: string, due: string) => `${name} was fed. Without another feed it fires at ${due}.`, fedLate: (name: string, due: string) => `${name} was fed too late: it had fired or was due. It is armed again, and fires at ${due}.`,
    edit: 'Edit', remove: 'Delete', removeTitle: 'Delete the watchdog?', removeWhat: 'One watchdog is deleted and never fires. Messages that it has created stay. This cannot be undone.', removed: 'The watchdog was deleted.', removedNot: 'The watchdog did not exist any more.',
    state: 'State', settings: 'Settings', content: 'Content of its messages', message: 'message', never: 'only after a feed',
    newTitle: 'New watchdog', editTitle: 'Edit the watchdog', name: 'Name', queue: 'Queue', queueHint: 'Its messages are put into this queue.', timeoutHint: 'It fires this long after its last feed, such as 25h.',
    maxHint: 'Optional: counted from the first feed since it last fired, however often it is fed.', repeatHint: 'Optional: without it, it fires once and sleeps until it is fed.', body: 'Content', bodyHint: 'The content of each message.',
    keepContent: 'The content stays as it is.', replaceContent: 'Replace the content', createButton: 'Create watchdog', createHint: 'A new watchdog counts as fed when it is created.', save: 'Save changes',
    saved: (name: string) => `The watchdog ${name} was saved.`, nothing: 'Nothing has changed.', nameNeeded: 'Give the watchdog a name.', nameTaken: 'A watchdog with this name exists. Choose another name, or edit that one.',
  },
  {
    title: '看门狗', about: '没有按时收到喂狗时，看门狗会创建一条消息：用于必须运行的任务和必须上报的设备。', list: '按名称排列的看门狗', create: '新建看门狗', all: '全部看门狗',
    none: '没有看门狗。', noneHint: '任务每次运行后喂一次看门狗。如果任务没有运行，看门狗会创建一条消息。',
    armed: '警戒中', asleep: '休眠', asleepAbout: '已触发，喂狗之前保持休眠。', firing: '会再次触发', overdue: '逾期', blocked: (code: string) => `等待：${code}`,
    blockedLong: (code: string) => `因 ${code} 暂时无法创建消息，服务器会自动重试。`,
    overdueLong: '它已到期，并在消息创建之前被喂。队列可以接收时会立即创建该消息。',
    fires: '触发时间', lastFed: '上次喂狗', lastFired: '上次触发', timeout: '超时', max: '最迟', repeat: '重复触发间隔', feeds: '喂狗次数', fired: '触发次数', merged: '已合并', mergedHint: '并入其他消息的到期时间', created: '创建时间',
    feed: '喂狗', fedDone: (name: string, due: string) => `${name} 已喂。若不再喂，将在 ${due} 触发。`, fedLate: (name: string, due: string) => `${name} 喂得太晚：已触发或已到期。现已重新警戒，将在 ${due} 触发。`,
    edit: '编辑', remove: '删除', removeTitle: '删除看门狗？', removeWhat: '将删除一个看门狗，不再触发。已创建的消息保留。此操作无法撤销。', removed: '看门狗已删除。', removedNot: '看门狗已不存在。',
    state: '状态', settings: '设置', content: '消息的内容', message: '消息', never: '喂狗之后',
    newTitle: '新建看门狗', editTitle: '编辑看门狗', name: '名称', queue: '队列', queueHint: '它的消息放入此队列。', timeoutHint: '上次喂狗之后多久触发，例如 25h。',
    maxHint: '可选：从上次触发后的第一次喂狗算起，无论喂多少次。', repeatHint: '可选：留空则只触发一次，然后休眠到被喂为止。', body: '内容', bodyHint: '每条消息的内容。',
    keepContent: '内容保持不变。', replaceContent: '替换内容', createButton: '创建看门狗', createHint: '新建即视为喂过一次。', save: '保存更改',
    saved: (name: string) => `看门狗 ${name} 已保存。`, nothing: '没有更改。', nameNeeded: '请填写名称。', nameTaken: '已有同名的看门狗。请换一个名称，或编辑已有的看门狗。',
  },
)

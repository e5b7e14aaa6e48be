// The words of the pages of namespaces.
import { dictionary } from '../i18n/language'

export const t = dictionary(
  {
    title: 'Namespaces', about: 'Quotas isolate users that share a server. A namespace exists as soon as it contains something.', list: 'Namespaces by name', none: 'No namespaces.', create: 'New namespace', all: 'All namespaces',
    schedules: 'Schedules', watchdogs: 'Watchdogs', putRate: 'Puts per second', weight: 'Weight', unlimited: 'no limit', showQueues: 'Show its queues',
    use: 'Use', quotas: 'Quotas', quotasHint: 'Empty: no limit. A limit below the present use ends nothing; it refuses what is new.',
    pendingLimit: 'Unfinished messages', queuesLimit: 'Queues', schedulesLimit: 'Schedules', watchdogsLimit: 'Watchdogs', putRateLimit: 'Puts per second', weightLimit: 'Weight', weightHint: '1 to 1,000; 1 if empty. The length of its turns when the server has more requests than it can take.',
    name: 'Name', newTitle: 'New namespace', save: 'Save changes', createButton: 'Create namespace', saved: (name: string) => `The quotas of ${name} were saved.`, nameNeeded: 'Give the namespace a name.', nothing: 'Nothing has changed.', number: (field: string) => `${field}: a whole number is needed.`,
    remove: 'Remove quotas', removeTitle: 'Remove the quotas?', removeWhat: 'All quotas of this namespace are removed. Its messages, schedules and watchdogs stay, without limits.', removed: 'The quotas were removed.', removedNot: 'The namespace had no quotas.',
    switchTo: 'Show this namespace', notYet: 'This namespace has no content and no quotas yet.',
  },
  {
    title: '命名空间', about: '配额隔离共用一台服务器的用户。命名空间一有内容就存在。', list: '按名称排列的命名空间', none: '没有命名空间。', create: '新建命名空间', all: '全部命名空间',
    schedules: '定时任务', watchdogs: '看门狗', putRate: '每秒写入', weight: '权重', unlimited: '无限制', showQueues: '显示其队列',
    use: '用量', quotas: '配额', quotasHint: '留空表示无限制。低于当前用量的限制不会结束任何内容，只拒绝新增。',
    pendingLimit: '未完成的消息', queuesLimit: '队列', schedulesLimit: '定时任务', watchdogsLimit: '看门狗', putRateLimit: '每秒写入', weightLimit: '权重', weightHint: '1 至 1,000，留空为 1。服务器请求过多时，其轮次的长度。',
    name: '名称', newTitle: '新建命名空间', save: '保存更改', createButton: '创建命名空间', saved: (name: string) => `${name} 的配额已保存。`, nameNeeded: '请填写名称。', nothing: '没有更改。', number: (field: string) => `${field}：需要整数。`,
    remove: '移除配额', removeTitle: '移除配额？', removeWhat: '将移除此命名空间的全部配额。其消息、定时任务和看门狗保留，不再受限。', removed: '配额已移除。', removedNot: '该命名空间没有配额。',
    switchTo: '显示此命名空间', notYet: '此命名空间还没有内容和配额。',
  },
)

// The groups of a queue: who has the largest backlog, who is limited and why, and what an operator can do about it. The server
// orders them, and shows the first; any other group is found by its name, also before its first message.
import { useState } from 'preact/hooks'
import { get, inNamespace, post, request } from '../api/client'
import type { Group, GroupPage, Queue } from '../api/openapi'
import { changed, useQuery } from '../api/query'
import { can, canAny } from '../api/session'
import { namespace, route, setQuery } from '../app/router'
import { dictionary } from '../i18n/language'
import { terms } from '../i18n/terms'
import { Dialog, act, confirm, notify } from './dialog'
import { formatDuration, formatNumber, formatTime } from './format'
import { Badge, Button, SearchField, Section } from './parts'
import { draftOf, groupDraftOf, groupPatchOf, type GroupDraft } from './queue_draft'
import { RateFields, rateText } from './rate'
import { SaveForm, TextField, useSave } from './save_form'
import { Pending, Table, type Column } from './table'
import { Name } from './text'
import { Instant, now } from './time'

const t = dictionary(
  {
    title: 'Groups', oldest: 'Oldest', order: 'Order', find: 'Find a group by its whole name',
    backlog: 'largest backlog first', leastRecent: 'longest due first', mostLeased: 'most leased first', byName: 'by name',
    first: (shown: number, known: number) => `The first ${formatNumber(shown)} of ${formatNumber(known)} groups.`, none: 'No group has due messages, leases or settings.',
    limitedBy: (what: string) => `limited: ${what}`, leasedAtOnce: (n: number) => `${formatNumber(n)} leased at once`, atLimit: 'as many as allowed are leased', rate: 'rate', ofQueue: (what: string) => `queue: ${what}`,
    since: (time: string) => `for ${time}`, backsOff: (until: string) => `backs off until ${until}`, of: (n: number) => `of ${formatNumber(n)}`, weightOf: (n: number) => `weight ${formatNumber(n)}`,
    groupTitle: (name: string) => `Group ${name}`, limits: 'Limits', asQueue: 'Empty: as the queue says for all groups', leasedField: 'Leased at once', weight: 'Weight', weightHint: 'Deliveries in each of its turns',
    saved: 'The settings of the group were changed.', nothing: 'Nothing has changed.',
    backoff: 'Backoff', backoffAbout: 'Nothing of the group is delivered for this time. Leased messages are not affected.', backoffFor: 'For', backoffHint: 'Such as 30s or 5m, up to a day', backOff: 'Back off', end: 'End the backoff', ended: 'The backoff has ended.',
    remove: 'Remove settings', removeTitle: (name: string) => `Remove the settings of group ${name}?`,
    removeWhat: 'Its limits are then those that the queue has for all groups, its weight is 1, and a backoff ends. Its messages stay.', removed: 'The settings of the group were removed.',
  },
  {
    title: '分组', oldest: '最早', order: '顺序', find: '按完整名称查找分组',
    backlog: '积压最多的在前', leastRecent: '到期最久的在前', mostLeased: '租出最多的在前', byName: '按名称',
    first: (shown: number, known: number) => `共 ${formatNumber(known)} 个分组，显示前 ${formatNumber(shown)} 个。`, none: '没有分组有到期消息、租约或设置。',
    limitedBy: (what: string) => `受限：${what}`, leasedAtOnce: (n: number) => `最多同时租出 ${formatNumber(n)} 条`, atLimit: '租出数已达上限', rate: '速率', ofQueue: (what: string) => `队列：${what}`,
    since: (time: string) => `已持续 ${time}`, backsOff: (until: string) => `退避至 ${until}`, of: (n: number) => `/ ${formatNumber(n)}`, weightOf: (n: number) => `权重 ${formatNumber(n)}`,
    groupTitle: (name: string) => `分组 ${name}`, limits: '上限', asQueue: '留空：使用队列对所有分组的设置', leasedField: '同时租出', weight: '权重', weightHint: '每轮投递的消息数',
    saved: '分组设置已修改。', nothing: '没有更改。',
    backoff: '退避', backoffAbout: '在此期间不投递该分组的消息。已租出的消息不受影响。', backoffFor: '时长', backoffHint: '例如 30s 或 5m，最长一天', backOff: '退避', end: '结束退避', ended: '退避已结束。',
    remove: '删除设置', removeTitle: (name: string) => `删除分组 ${name} 的设置？`,
    removeWhat: '之后使用队列对所有分组的上限，权重为 1，退避结束。消息会保留。', removed: '分组设置已删除。',
  },
)

const SHOWN_MAX = 50
const ORDERS = ['backlog', 'oldest', 'leased', 'name'] as const
type Order = (typeof ORDERS)[number]

function leasedMax(queue: Queue, group: Group): number | undefined {
  return group.settings.leased ?? queue.settings.groups?.leased
}

function limitText(queue: Queue, group: Group): string {
  const isOfQueue = group.limited_by?.startsWith('queue_')
  const max = isOfQueue ? queue.settings.limits?.leased : leasedMax(queue, group)
  const rate = isOfQueue ? queue.settings.rate : (group.settings.rate ?? queue.settings.groups?.rate)
  const isAtMax = group.limited_by?.endsWith('leased')
  const what = isAtMax ? (max === undefined ? t.atLimit : t.leasedAtOnce(max)) : rate ? rateText(rate) : t.rate
  return isOfQueue ? t.ofQueue(what) : what
}

function State({ queue, group }: { queue: Queue; group: Group }) {
  const { limited_by, limited_since_ms, backoff_until_ms } = group
  if (backoff_until_ms !== undefined && backoff_until_ms > now()) return <Badge tone="warn">{t.backsOff(formatTime(backoff_until_ms))}</Badge>
  return (
    <>
      <Badge tone="warn">{t.limitedBy(limitText(queue, group))}</Badge>
      {limited_by && limited_since_ms !== undefined && <> <span class="muted line">{t.since(formatDuration(Math.max(now() - limited_since_ms, 0), 1))}</span></>}
    </>
  )
}

function Settings({ queue, group, path, onClose }: { queue: Queue; group: Group; path: string; onClose: () => void }) {
  const [before] = useState(() => groupDraftOf(group))
  const [draft, setDraft] = useState(before)
  const set = (part: Partial<GroupDraft>) => setDraft({ ...draft, ...part })
  const ofQueue = draftOf(queue)
  const saving = useSave(async () => {
    const patch = groupPatchOf(before, draft)
    if (Object.keys(patch).length === 0) notify(t.nothing)
    else {
      await request<Group>('PATCH', path, { body: patch })
      notify(t.saved)
      changed()
    }
    onClose()
  })
  return (
    <SaveForm class="settings-form" saving={saving} label={terms.save}>
      <h3>{t.limits} <span class="muted">{t.asQueue}</span></h3>
      <div class="fields">
        <TextField id="group-leased" label={t.leasedField} value={draft.leased} placeholder={ofQueue.groupLeased} inputMode="numeric" onValue={(leased) => set({ leased })} />
        <TextField id="group-weight" label={t.weight} hint={t.weightHint} value={draft.weight} placeholder="1" inputMode="numeric" onValue={(weight) => set({ weight })} />
        <RateFields id="group-rate" draft={draft.pace} inherited={ofQueue.groupPace} onDraft={(pace) => set({ pace })} />
      </div>
    </SaveForm>
  )
}

function Backoff({ path, onClose }: { path: string; onClose: () => void }) {
  const [time, setTime] = useState('')
  const saving = useSave(async () => {
    const { backoff_until_ms } = await post<Group>(`${path}:backoff`, { for: time.trim() })
    notify(backoff_until_ms === undefined ? t.ended : t.backsOff(formatTime(backoff_until_ms)))
    changed()
    onClose()
  })
  return (
    <SaveForm class="settings-form" saving={saving} label={t.backOff}>
      <h3>{t.backoff}</h3>
      <p class="muted">{t.backoffAbout}</p>
      <TextField id="group-backoff" label={t.backoffFor} hint={t.backoffHint} value={time} onValue={setTime} />
    </SaveForm>
  )
}

function GroupDialog({ queue, group, onClose }: { queue: Queue; group: Group; onClose: () => void }) {
  const path = inNamespace('queues', queue.queue, 'groups', group.group)
  const backsOff = group.backoff_until_ms !== undefined
  return (
    <Dialog title={t.groupTitle(group.group)} onClose={onClose}>
      {can('admin') && <Settings queue={queue} group={group} path={path} onClose={onClose} />}
      {can('consume') && <Backoff path={path} onClose={onClose} />}
      <div class="dialog-actions">
        {can('consume') && backsOff && (
          <Button onClick={() => { onClose(); void act(() => post<Group>(`${path}:backoff`, { for: '0s' }), () => t.ended) }}>{t.end}</Button>
        )}
        {can('admin') && (backsOff || Object.keys(group.settings).length > 0) && (
          <Button
            kind="danger"
            onClick={() => {
              onClose()
              confirm({ title: t.removeTitle(group.group), what: t.removeWhat, verb: t.remove, danger: true, run: () => request<Group>('DELETE', path), done: () => t.removed })
            }}
          >
            {t.remove}
          </Button>
        )}
        <Button onClick={onClose}>{terms.close}</Button>
      </div>
    </Dialog>
  )
}

/** Nothing unless the queue has groups, or limits for them. */
export function Groups({ queue }: { queue: Queue }) {
  const [open, setOpen] = useState<Group | null>(null)
  const name = queue.queue
  const wanted = route.value.query.get('group') ?? ''
  const order = ORDERS.find((one) => one === route.value.query.get('order')) ?? 'backlog'
  const listed = useQuery(
    ['groups', namespace.value, name, order],
    (signal) => get<GroupPage>(inNamespace('queues', name, 'groups'), { order, limit: SHOWN_MAX }, signal), { every_ms: 5000 },
  )
  const found = useQuery(
    ['group', namespace.value, name, wanted],
    (signal) => get<Group>(inNamespace('queues', name, 'groups', wanted), {}, signal), { every_ms: 5000, skip: wanted === '' },
  )
  if (!listed.data && !listed.error) return null
  if (listed.data?.known === 0 && !queue.settings.groups && wanted === '') return null
  const rows = wanted === '' ? listed.data?.groups : found.data && [found.data]
  const columns: Column<Group>[] = [
    {
      key: 'group', heading: terms.group,
      cell: (group) => (
        <>
          {canAny('admin', 'consume') ? <button type="button" class="link" onClick={() => setOpen(group)}><Name>{group.group}</Name></button> : <Name>{group.group}</Name>}
          {group.settings.weight !== undefined && <> <span class="muted line">{t.weightOf(group.settings.weight)}</span></>}
        </>
      ),
    },
    { key: 'ready', heading: terms.ready, number: true, cell: (group) => <>{formatNumber(group.ready)}{group.ready_is_minimum && '+'}</> },
    {
      key: 'leased', heading: terms.leased, number: true,
      cell: (group) => {
        const max = leasedMax(queue, group)
        return <>{formatNumber(group.leased)}{max !== undefined && <> <span class="muted">{t.of(max)}</span></>}</>
      },
    },
    { key: 'oldest', heading: t.oldest, cell: (group) => group.oldest_due_ms !== undefined && <Instant ms={group.oldest_due_ms} relative /> },
    { key: 'state', heading: terms.state, cell: (group) => (group.limited_by || group.backoff_until_ms !== undefined) && <State queue={queue} group={group} /> },
  ]
  const orders: Record<Order, string> = { backlog: t.backlog, oldest: t.leastRecent, leased: t.mostLeased, name: t.byName }
  return (
    <Section title={t.title} aside={listed.data?.more && t.first(listed.data.groups.length, listed.data.known)}>
      <div class="filters">
        <SearchField id="group-search" label={t.find} placeholder={t.find} value={wanted} onInput={(text) => setQuery({ group: text })} />
        {wanted === '' && (
          <select aria-label={t.order} value={order} onChange={(event) => setQuery({ order: event.currentTarget.value })}>
            {ORDERS.map((one) => <option key={one} value={one}>{orders[one]}</option>)}
          </select>
        )}
      </div>
      {rows ? <Table caption={t.title} columns={columns} rows={rows} rowKey={(group) => group.group} empty={t.none} /> : <Pending query={wanted === '' ? listed : found} />}
      {open && <GroupDialog queue={queue} group={open} onClose={() => setOpen(null)} />}
    </Section>
  )
}

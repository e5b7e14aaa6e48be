// The next times of a schedule, with those that clock changes affect and those that are excluded.
import type { Preview } from '../api/openapi'
import { formatDuration, formatInstant, formatNumber as n } from '../ui/format'
import { Badge } from '../ui/parts'
import { Table, type Column } from '../ui/table'
import { t } from './text'

interface Row {
  nominal_ms: number
  local: string
  number: number | null
  /** Undefined: a time without a run. */
  change?: { mark: string; about: string }
  excluded?: string
  jitter_ms: number
  /** Whether the offset differs from that of the time before. */
  offset: string | null
}

function rowsOf(preview: Preview): Row[] {
  const last = preview.times.at(-1)?.nominal_ms ?? Infinity
  const rows: Row[] = [
    ...preview.times.map((time) => ({
      nominal_ms: time.nominal_ms, local: time.local, number: time.occurrence ?? null, jitter_ms: time.due_ms - time.nominal_ms, offset: null,
      change: time.clock_change && {
        shifted: { mark: t.shifted, about: t.shiftedAbout },
        first_pass: { mark: t.firstPass, about: t.firstPassAbout },
        second_pass: { mark: t.secondPass, about: t.secondPassAbout },
      }[time.clock_change],
    })),
    ...preview.excluded.filter((time) => time.nominal_ms <= last).map((time) => ({
      nominal_ms: time.nominal_ms, local: time.local, number: null, jitter_ms: 0, offset: null,
      excluded: { closed_day: t.closedDay, skipped_time: t.skippedTime, repeated_time: t.repeatedTime }[time.reason],
    })),
  ].sort((a, b) => a.nominal_ms - b.nominal_ms)
  for (const [index, row] of rows.entries()) {
    const before = rows[index - 1]
    if (before && offsetOf(before.local) !== offsetOf(row.local)) row.offset = offsetOf(row.local)
  }
  return rows
}

/** `2027-03-28T03:00:00.000+02:00` as date, time and offset. */
function partsOf(local: string): { date: string; time: string; offset: string } {
  const match = /^(\S+)T(\d\d:\d\d(?::\d\d)?(?:\.\d+)?)(.*)$/.exec(local)
  if (!match) return { date: local, time: '', offset: '' }
  return { date: match[1]!, time: match[2]!.replace(/\.000$/, '').replace(/^(\d\d:\d\d):00$/, '$1'), offset: match[3]! === 'Z' ? '+00:00' : match[3]! }
}

function offsetOf(local: string): string {
  return partsOf(local).offset
}

function Local({ local }: { local: string }) {
  const { date, time, offset } = partsOf(local)
  return <span class="local-time"><span>{date}</span> <strong>{time}</strong> <span class="muted">{offset}</span></span>
}

/** A year of daily times, so that the next clock changes are among them. */
export const PREVIEW_COUNT = 370
const CHANGES_MAX = 4

/** The first `shown` rows, and below them the next times that clock changes affect. `narrow`: with two columns only. */
export function PreviewTable({ preview, shown = 10, narrow = false }: { preview: Preview; shown?: number; narrow?: boolean }) {
  const rows = rowsOf(preview)
  const later = rows.slice(shown).filter((row) => row.change || (row.excluded && row.excluded !== t.closedDay) || row.offset).slice(0, CHANGES_MAX)
  return (
    <>
      <Rows caption={t.nextRuns} rows={rows.slice(0, shown)} zone={preview.zone} narrow={narrow} />
      {later.length > 0 && (
        <>
          <h3 class="preview-later">{t.laterChanges}</h3>
          <Rows caption={t.laterChanges} rows={later} zone={preview.zone} narrow={narrow} />
        </>
      )}
    </>
  )
}

function Rows({ caption, rows, zone, narrow }: { caption: string; rows: Row[]; zone: string; narrow: boolean }) {
  const columns: Column<Row>[] = [
    { key: 'local', heading: `${t.local} (${zone || 'UTC'})`, cell: (row) => (row.excluded ? <s><Local local={row.local} /></s> : <Local local={row.local} />) },
    { key: 'yours', heading: t.yours, cell: (row) => (row.excluded ? <span class="muted">{t.noRun}</span> : formatInstant(row.nominal_ms)) },
    { key: 'number', heading: t.number, number: true, cell: (row) => row.number !== null && n(row.number) },
    { key: 'remarks', heading: t.about_, cell: (row) => remarks(row) },
  ]
  return (
    <Table
      caption={caption} rows={rows} rowKey={(row) => `${row.nominal_ms} ${row.local} ${row.excluded ?? ''}`} empty={t.noTimes}
      columns={columns.filter(({ key }) => !narrow || key === 'local' || key === 'remarks')}
    />
  )
}

function remarks(row: Row) {
  if (row.excluded) return <Badge>{row.excluded}</Badge>
  if (row.change) return <><Badge tone="warn">{row.change.mark}</Badge> <span class="muted">{row.change.about}</span></>
  if (row.offset) return <Badge tone="accent">{t.offsetChange(row.offset)}</Badge>
  return row.jitter_ms > 0 ? <span class="muted">{t.jittered(formatDuration(row.jitter_ms))}</span> : null
}

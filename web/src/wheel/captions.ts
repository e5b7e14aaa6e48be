// What has happened in one step, in words: one sentence for each timer, or one for many that did the same.
import type { Happening, Timer, WheelModel } from './model'
import { t } from './text'

const ONE_BY_ONE_MAX = 2

export function captionsOf(happened: Happening[]): string[] {
  const groups = new Map<string, Happening[]>()
  for (const one of happened) {
    const group = one.kind === 'moved' ? `moved ${one.from?.level} ${one.to.level}` : one.kind
    groups.set(group, [...(groups.get(group) ?? []), one])
  }
  return [...groups.values()].flatMap((group) => (group.length <= ONE_BY_ONE_MAX ? group.map(sentence) : [summary(group[0]!, group.length)]))
}

function sentence(one: Happening): string {
  const { id } = one.timer
  if (one.kind === 'fired') return t.fired(id)
  if (one.kind === 'dropped') return t.dropped(id)
  const from = one.from?.level ?? 0
  return from > one.to.level ? t.moved(id, from, one.to.level, one.deadline) : t.refiled(id, one.to.level, one.deadline)
}

function summary(one: Happening, count: number): string {
  if (one.kind === 'fired') return t.firedMany(count)
  if (one.kind === 'dropped') return t.droppedMany(count)
  return t.movedMany(count, one.from?.level ?? 0, one.to.level)
}

/** The caption for a timer that has just been added. The words are made later, in the language of that time. */
export function addedCaption(wheel: WheelModel, { id, deadline, entry }: Timer): () => string {
  const place = entry?.place
  if (!place) return () => t.addedLate(id)
  const span = wheel.span(place.level)
  return () => t.added(id, deadline!, place.level, place.slot * span, (place.slot + 1) * span - 1)
}

// The newest messages of everything that happens. Background, and deliveries and reconciles that led to nothing, are hidden and counted.
import { controllersSender } from '../../../../api/coxswain/v1/flow-protocol.ts'
import { backgroundKindOf, type BackgroundKind } from '../../../../base/observability/background-events.ts'
import type { FlowEvent } from '../../../../base/observability/flow-recorder.ts'
import type { FlowMessage } from '../../../../flows/flow-messages.ts'
import { isAdmitted, type MessageFilter } from './message-filter.ts'

export type HiddenKind = BackgroundKind | 'without effect'

export interface RecentMessages {
  readonly messages: readonly FlowMessage[]
  /** How many messages among the shown ones are hidden, by their kind. */
  readonly hidden: ReadonlyMap<HiddenKind, number>
}

export function recentMessages(events: readonly FlowEvent[], filter: MessageFilter, max: number): RecentMessages {
  const newestFirst: FlowMessage[] = []
  const hidden = new Map<HiddenKind, number>()
  const effects = new Effects()
  for (let at = events.length - 1; at >= 0 && newestFirst.length < max; at--) {
    const event = events[at] as FlowEvent
    const kind = hiddenKindOf(event, filter, effects)
    // A message that led to hidden ones only is without effect.
    if (kind === undefined) effects.add(event)
    if (!isAdmitted(filter, event)) continue
    if (kind !== undefined) hidden.set(kind, (hidden.get(kind) ?? 0) + 1)
    if (kind === undefined || filter.showsBackground) newestFirst.push({ event, count: 1, isInferred: false })
  }
  return { messages: newestFirst.toReversed(), hidden }
}

/** Undefined for a message that is shown by default. Failures are, and kinds that the user has chosen. */
function hiddenKindOf(event: FlowEvent, filter: MessageFilter, effects: Effects): HiddenKind | undefined {
  const { arrow, what, object } = event
  if (filter.onlyFailures) return undefined
  const kind = backgroundKindOf(what, object)
  if (kind !== undefined && (kind === 'reads' || kind === 'bookmarks' || object?.resource !== filter.kind)) return kind
  const isPassive = arrow === 'watch' || arrow === 'reconcile'
  return isPassive && !effects.has(event) ? 'without effect' : undefined
}

/** What later events name as their causes. */
class Effects {
  readonly #causes = new Set<number>()
  /** By revision and receiver. */
  readonly #deliveries = new Set<string>()

  add({ cause, from }: FlowEvent): void {
    this.#causes.add(cause.event)
    for (const id of cause.also) this.#causes.add(id)
    const watcher = from.startsWith('controller/') ? controllersSender : from
    for (const revision of cause.revisions) this.#deliveries.add(`${revision} ${watcher}`)
  }

  has({ id, arrow, revision, to }: FlowEvent): boolean {
    return this.#causes.has(id) || (arrow === 'watch' && this.#deliveries.has(`${revision} ${to}`))
  }
}

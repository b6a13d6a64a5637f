// Which messages a diagram shows.
import type { FlowEvent, FlowObject } from '../../../../base/observability/flow-recorder.ts'
import { hasFailed } from '../../../../flows/diagram-colors.ts'

export interface MessageFilter {
  /** The object whose flow is shown; undefined for what happens. */
  readonly object: FlowObject | undefined
  /** Without an object: only messages about objects of this namespace; empty for all. */
  readonly namespace: string
  /** Only messages of a participant, or between two. */
  readonly between: string
  /** Only messages about objects of this resource; empty for all. */
  readonly kind: string
  /** Only messages about objects whose namespace and name contain these words. */
  readonly search: string
  readonly onlyFailures: boolean
  /** Without an object: also messages that are background or without effect. */
  readonly showsBackground: boolean
  readonly expanded: readonly number[]
  /** The groups of participants that do not share a lifeline. */
  readonly unfolded: ReadonlySet<string>
  /** Only messages until then. */
  readonly untilMs: number | undefined
  readonly stages: boolean
}

/** What happens, without a filter. */
export const everyMessage: MessageFilter = {
  object: undefined,
  namespace: '',
  between: '',
  kind: '',
  search: '',
  onlyFailures: false,
  showsBackground: false,
  expanded: [],
  unfolded: new Set(),
  untilMs: undefined,
  stages: false,
}

/** Whether a filter admits an event, besides background. */
export function isAdmitted(filter: MessageFilter, event: FlowEvent): boolean {
  const { object, namespace, between, kind, search, onlyFailures, untilMs = Infinity } = filter
  const { from, to, atMs, object: about } = event
  if (atMs > untilMs || !isBetween(between, from, to)) return false
  if (object === undefined && namespace !== '' && about?.namespace !== namespace) return false
  if (kind !== '' && about?.resource !== kind) return false
  if (onlyFailures && !hasFailed(event)) return false
  return search.trim() === '' || (about !== undefined && hasWords(`${about.namespace}/${about.name}`, search))
}

const hasWords = (text: string, search: string): boolean =>
  search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.toLowerCase().includes(word))

/** Whether a message is of a participant, or between two: `a`, `a>b`. Every message matches an empty filter. */
export function isBetween(between: string, from: string, to: string): boolean {
  if (between === '') return true
  const [a = '', b] = between.split('>', 2)
  const isOf = (name: string, participant: string): boolean =>
    participant === name || participant.startsWith(`${name}/`)
  if (b === undefined) return isOf(a, from) || isOf(a, to)
  return (isOf(a, from) && isOf(b, to)) || (isOf(b, from) && isOf(a, to))
}

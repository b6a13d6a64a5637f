// A Stage as it is used: which objects it applies to, after which delay, and what it does with them.
import { lookup } from '../../base/collections/lookup.ts'
import type { Random } from '../../base/random/random.ts'
import type { JsonValue } from '../../schema/json/json-value.ts'
import { parseDuration } from '../../schema/scalar/duration.ts'
import { evaluateJq } from '../jq/jq-evaluate.ts'
import type { JqQuery, JqValue } from '../jq/jq-query.ts'
import type { StageEvent, StageFinalizers, StageOperator } from './stage-kind.ts'

export type PatchType = 'json' | 'merge' | 'strategic'

/** What a patch contains for an object. Templates are rendered with the functions. */
export type PatchContent = (object: JqValue, functions: StageFunctions) => Promise<JsonValue> | JsonValue

/** What stages learn about time, nodes and addresses. */
export interface StageFunctions {
  now(): string
  startTime(): string
  version(): string
  /** Of the machine that simulated nodes stand for. */
  nodeIp(): string
  /** The address of a node, by its name. */
  nodeIpWith(node: string): string
  podIpWith(node: string, isInHostNetwork: boolean, uid: string, name: string, namespace: string): string
}

export type StageStep =
  | { readonly kind: 'event'; readonly event: StageEvent }
  | { readonly kind: 'finalizers'; readonly finalizers: StageFinalizers }
  | { readonly kind: 'delete' }
  | {
      readonly kind: 'patch'
      readonly patchType: PatchType
      readonly subresource: string
      /** The field that contains what the patch says; empty for the whole object. */
      readonly root: string
      readonly content: PatchContent
    }

export interface Requirement {
  readonly query: JqQuery
  readonly operator: StageOperator
  readonly values: readonly string[]
}

/** A number, or what an expression finds in the object in its place. */
export interface Measured {
  readonly value: number | undefined
  readonly from: JqQuery | undefined
}

export interface Stage {
  readonly name: string
  readonly apiVersion: string
  readonly kind: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly requirements: readonly Requirement[]
  readonly weight: Measured
  readonly delay: { readonly durationMs: Measured; readonly jitterMs: Measured } | undefined
  readonly steps: readonly StageStep[]
}

interface Metadata {
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

export function stageMatches({ labels, annotations, requirements }: Stage, object: JqValue): boolean {
  const { metadata = {} } = object as { readonly metadata?: Metadata }
  return (
    hasAll(metadata.labels, labels) &&
    hasAll(metadata.annotations, annotations) &&
    requirements.every((requirement) => isMet(requirement, object))
  )
}

const hasAll = (present: Readonly<Record<string, string>> = {}, needed: Readonly<Record<string, string>>): boolean =>
  Object.entries(needed).every(([key, value]) => lookup(present, key) === value)

/** As upstream: an expression that fails finds nothing. */
export function isMet({ query, operator, values }: Requirement, object: JqValue): boolean {
  const found = evaluateJq(query, object) ?? []
  const isAmong = () => found.some((value) => isScalar(value) && values.includes(String(value)))
  const exists = () => found.some((value) => value !== null)
  switch (operator) {
    case 'In':
      return isAmong()
    case 'NotIn':
      return !isAmong()
    case 'Exists':
      return exists()
    case 'DoesNotExist':
      return !exists()
    default:
      return operator satisfies never
  }
}

const isScalar = (value: JqValue): boolean => ['boolean', 'number', 'string'].includes(typeof value)

/**
 * One of the stages that match, at random by their weights. If none has a weight, all have the same probability. A weight that
 * cannot be read counts only if no stage has one that can.
 */
export function chooseStage(stages: readonly Stage[], object: JqValue, random: Random): Stage | undefined {
  const matching = stages.filter((stage) => stageMatches(stage, object))
  if (matching.length <= 1) return matching[0]
  const weighed = matching.map((stage) => ({ stage, weight: weightOf(stage, object) }))
  const readable = weighed.flatMap(({ stage, weight }) => (weight === undefined ? [] : [{ stage, weight }]))
  const total = readable.reduce((sum, { weight }) => sum + Math.max(0, weight), 0)
  if (total === 0) {
    const candidates = readable.length > 0 ? readable : weighed
    return candidates[random.below(candidates.length)]?.stage
  }
  let rest = random.fraction() * total
  return readable.find(({ weight }) => weight > 0 && (rest -= weight) < 0)?.stage ?? readable.at(-1)?.stage
}

export function weightOf({ weight: { value, from } }: Stage, object: JqValue): number | undefined {
  const found = from && firstOf(from, object)
  if (found === undefined) return value ?? 0
  const number = typeof found === 'string' && found !== '' ? Number(found) : found
  return typeof number === 'number' && Number.isInteger(number) ? number : undefined
}

/** How long the object stays as it is before the stage applies. */
export function delayMsOf({ delay }: Stage, object: JqValue, nowMs: number, random: Random): number {
  if (delay === undefined) return 0
  const duration = durationOf(delay.durationMs, object, nowMs)
  if (duration === undefined) return 0
  const jitter = durationOf(delay.jitterMs, object, nowMs)
  if (jitter === undefined) return duration
  return jitter <= duration ? jitter : duration + random.fraction() * (jitter - duration)
}

/** Strings are durations or times; undefined for other ones. */
function durationOf({ value, from }: Measured, object: JqValue, nowMs: number): number | undefined {
  const found = from && firstOf(from, object)
  if (found === undefined) return value
  if (typeof found !== 'string') return undefined
  const time = /^\d{4}-\d\d-\d\dT/.test(found) ? Date.parse(found) : NaN
  if (!Number.isNaN(time)) return time - nowMs
  const duration = parseDuration(found)
  return duration.kind === 'duration' ? Number(duration.nanos) / 1e6 : undefined
}

/** Undefined for nothing and for null. */
function firstOf(query: JqQuery, object: JqValue): JqValue | undefined {
  const [found] = evaluateJq(query, object) ?? []
  return found ?? undefined
}

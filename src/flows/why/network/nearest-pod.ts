// nearestMiss: the pod that matches a selector best although it does not match, and the labels that differ.
import { lookup } from '../../../base/collections/lookup.ts'
import type { Pod } from '../../../api/core/v1/pod/pod.ts'

type Labels = readonly (readonly [key: string, value: string])[]

export interface NearestPod {
  readonly sentence: string
  /** The labels of the pod that were probably meant. */
  readonly selector: Labels
}

/** Undefined where no pod has any of the labels, or something like it. */
export function nearestMiss(wanted: Labels, pods: readonly Pod[]): NearestPod | undefined {
  const scored = pods.map((pod) => ({ pod, score: scoreOf(wanted, pod.metadata.labels) }))
  const best = scored.reduce<(typeof scored)[number] | undefined>(
    (found, each) => (each.score > (found?.score ?? 0) ? each : found),
    undefined,
  )
  if (best === undefined) return undefined
  const { labels = {}, name } = best.pod.metadata
  const differences = wanted.flatMap(([key, value]) => differenceOf(labels, key, value))
  return {
    sentence: `The nearest pod is ${name}: ${differences.join(', and ')}.`,
    selector: wanted.flatMap(([key, value]) => {
      const meant = lookup(labels, key) === undefined ? similarKey(labels, key, value) : key
      return meant === undefined ? [] : [[meant, lookup(labels, meant) ?? ''] as const]
    }),
  }
}

/** Equal labels count more than labels with the same key or a similar one. */
function scoreOf(wanted: Labels, labels: Readonly<Record<string, string>> = {}): number {
  return wanted.reduce((score, [key, value]) => {
    const own = lookup(labels, key)
    if (own === value) return score + 4
    if (own !== undefined) return score + (isSimilar(own, value) ? 2 : 1)
    return score + (similarKey(labels, key, value) === undefined ? 0 : 1)
  }, 0)
}

function differenceOf(labels: Readonly<Record<string, string>>, key: string, value: string): string[] {
  const own = lookup(labels, key)
  if (own === value) return []
  if (own !== undefined) return [`its label ${key} is ${JSON.stringify(own)} instead of ${JSON.stringify(value)}`]
  const similar = similarKey(labels, key, value)
  return [
    similar === undefined
      ? `it has no label ${key}`
      : `it has the label ${similar}=${lookup(labels, similar) ?? ''} instead of ${key}=${value}`,
  ]
}

/** A label with the wanted value whose key differs, such as `app` instead of `app.kubernetes.io/name`. */
const similarKey = (labels: Readonly<Record<string, string>>, key: string, value: string): string | undefined =>
  Object.keys(labels).find((each) => each !== key && lookup(labels, each) === value)

/** One contains the other, or they have about the same length and differ in at most two characters. */
function isSimilar(one: string, other: string): boolean {
  if (one.includes(other) || other.includes(one)) return true
  if (Math.abs(one.length - other.length) > 1) return false
  const differing = one.split('').filter((character, index) => character !== other[index])
  return differing.length <= 2
}

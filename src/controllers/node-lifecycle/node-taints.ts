// The taints for a node's conditions.
import { lookup } from '../../base/collections/lookup.ts'
import type { Node, Taint } from '../../api/core/v1/node/node.ts'

const prefix = 'node.kubernetes.io/'

/** The taint for a condition, by type and status. */
const taintNames: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Ready: { False: 'not-ready', Unknown: 'unreachable' },
  MemoryPressure: { True: 'memory-pressure' },
  DiskPressure: { True: 'disk-pressure' },
  PIDPressure: { True: 'pid-pressure' },
  NetworkUnavailable: { True: 'network-unavailable' },
}
const unschedulable = 'unschedulable'
const isOurs = new Set([...Object.values(taintNames).flatMap((names) => Object.values(names)), unschedulable])
const evicting: ReadonlySet<string> = new Set(Object.values(taintNames['Ready'] ?? {}))

const taintNamesOf = ({ spec, status }: Node): string[] => [
  ...(status.conditions ?? []).flatMap(({ type, status: value }) => lookup(lookup(taintNames, type), value) ?? []),
  ...(spec.unschedulable ? [unschedulable] : []),
]

const nameOf = ({ key }: Taint): string | undefined => (key.startsWith(prefix) ? key.slice(prefix.length) : undefined)

const isManaged = (taint: Taint): boolean => {
  const name = nameOf(taint) ?? ''
  return (taint.effect === 'NoSchedule' && isOurs.has(name)) || (taint.effect === 'NoExecute' && evicting.has(name))
}

export type EvictionState =
  /** No condition requires eviction. */
  | 'none'
  /** Its pods should be evicted, subject to the rate limit. */
  | 'due'
  | 'evicting'

export function evictionState(node: Node): EvictionState {
  if (!taintNamesOf(node).some((name) => evicting.has(name))) return 'none'
  const isEvicting = node.spec.taints?.some((taint) => taint.effect === 'NoExecute' && isManaged(taint)) ?? false
  return isEvicting ? 'evicting' : 'due'
}

/** The desired taints, with those of others unchanged; undefined when nothing changes. */
export function changedTaints(node: Node, mayEvict: boolean, now: string): readonly Taint[] | undefined {
  const { taints = [] } = node.spec
  const names = taintNamesOf(node)
  const wanted: Taint[] = [
    ...names.map((name): Taint => ({ key: prefix + name, effect: 'NoSchedule' })),
    ...(mayEvict ? names.filter((name) => evicting.has(name)) : []).map((name): Taint => ({
      key: prefix + name,
      effect: 'NoExecute',
    })),
  ]
  const isSame = (a: Taint, b: Taint) => a.key === b.key && a.effect === b.effect
  const kept = taints.filter((taint) => !isManaged(taint) || wanted.some((one) => isSame(one, taint)))
  const added = wanted.filter((one) => !taints.some((taint) => isSame(one, taint)))
  if (added.length === 0 && kept.length === taints.length) return undefined
  return [...kept, ...added.map((taint) => ({ ...taint, timeAdded: now }))]
}

// Builders for scheduler tests: pods, nodes, snapshots, and the verdicts and scores of one plugin.
import { once } from 'node:events'
import { node, type Node } from '../api/core/v1/node/node.ts'
import { pod, type Pod } from '../api/core/v1/pod/pod.ts'
import type { Kind } from '../api/kind/kind.ts'
import type { ApiObject } from '../api/meta/object.ts'
import type { ClientEvent, Transport } from '../client/transport/transport.ts'
import { decode } from '../schema/decoding/decode.ts'
import { withDefaults } from '../schema/decoding/defaults.ts'
import type { Cycle, SchedulerPlugin } from './framework/framework.ts'
import { podFacts } from './snapshot/pod-facts.ts'
import { Snapshot } from './snapshot/snapshot.ts'

export function made<T extends ApiObject>(kind: Kind<T>, name: string, body: object): T {
  const { metadata = {}, ...rest } = body as { metadata?: object }
  const place = kind.namespaced ? { namespace: 'default' } : {}
  const full = { metadata: { name, uid: name, resourceVersion: '1', ...place, ...metadata }, ...rest }
  const decoded = { ...decode(kind.message, full).value, apiVersion: kind.apiVersion, kind: kind.kind }
  return kind.applyDefaults(withDefaults(kind.message, decoded as unknown as T))
}

export const aPod = (name: string, spec: object = {}, requests: object = {}, metadata: object = {}): Pod =>
  made(pod, name, { metadata, spec: { containers: [{ name: 'c', image: 'i', resources: { requests } }], ...spec } })

export const aNode = (
  name: string,
  spec: object = {},
  allocatable: object = { cpu: '4', memory: '8Gi', pods: '10' },
  labels: Record<string, string> = {},
): Node =>
  made(node, name, {
    metadata: { labels: { 'kubernetes.io/hostname': name, ...labels } },
    spec,
    status: { allocatable },
  })

export function snapshotOf(nodes: readonly Node[], placed: readonly (readonly [Pod, string])[] = []): Snapshot {
  const snapshot = new Snapshot()
  for (const each of nodes) snapshot.setNode(each)
  for (const [each, nodeName] of placed) snapshot.place(each, nodeName)
  return snapshot
}

export const cycleOf = (target: Pod, snapshot: Snapshot): Cycle => ({ pod: target, facts: podFacts(target), snapshot })

/** The plugin's verdict on each node: 'fits' or its reasons. A rejection in PreFilter applies to every node. */
export function verdictsOf(plugin: SchedulerPlugin, target: Pod, snapshot: Snapshot): Record<string, string> {
  const cycle = cycleOf(target, snapshot)
  const first = plugin.preFilter?.(cycle) ?? { kind: 'check', state: undefined }
  return Object.fromEntries(
    [...snapshot.order].map((slot) => {
      const name = snapshot.nameAt(slot)
      if (first.kind === 'skip') return [name, 'fits']
      if (first.kind === 'rejected') return [name, first.reasons.join(', ')]
      if (first.nodes !== undefined && !first.nodes.has(name)) return [name, 'not evaluated']
      return [name, plugin.filter?.(cycle, slot, first.state)?.reasons.join(', ') ?? 'fits']
    }),
  )
}

/** The plugin's normalised score of each node; undefined when it does not score the pod. */
export function scoresOf(plugin: SchedulerPlugin, target: Pod, snapshot: Snapshot): Record<string, number> | undefined {
  const cycle = cycleOf(target, snapshot)
  const slots = snapshot.order
  const state = plugin.preScore?.(cycle, slots)
  if (plugin.preScore !== undefined && state === undefined) return undefined
  const scores = Float64Array.from(slots, (slot) => plugin.score?.(cycle, slot, state) ?? 0)
  plugin.normalizeScores?.(scores, state, slots)
  return Object.fromEntries([...slots].map((slot, index) => [snapshot.nameAt(slot), scores[index] ?? 0]))
}

/** A transport that lists fixed objects and sends nothing. */
export const standing = (objects: readonly ApiObject[]): Transport => ({
  read: () => Promise.reject(new Error('nothing is read')),
  readText: () => Promise.reject(new Error('nothing is read')),
  send: () => Promise.reject(new Error('nothing is sent')),
  list: ({ kind }) =>
    Promise.resolve({ items: objects.filter((each) => each.kind === kind.kind), revision: 1, continueToken: '' }),
  // oxlint-disable-next-line require-yield -- nothing ever happens
  async *watch(_call, { signal }): AsyncIterable<readonly ClientEvent[]> {
    if (!signal.aborted) await once(signal, 'abort')
  },
})

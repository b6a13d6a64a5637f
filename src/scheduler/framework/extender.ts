// Extender: an HTTP service that takes part in scheduling: it filters and scores nodes, changes preemption victims and
// binds.
import { lookup } from '../../base/collections/lookup.ts'
import { durationMs, type Clock } from '../../base/time/clock.ts'
import type { Node } from '../../api/core/v1/node/node.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { namespaceOf } from '../../api/meta/object.ts'
import type { Outbound, OutboundProvider, OutboundRequest } from '../../platform/http/outbound.ts'
import { isJsonObject, type JsonObject } from '../../schema/json/json-value.ts'
import { jsonText, parseJson } from '../../schema/json/exact-json.ts'

/** As in KubeSchedulerConfiguration. */
export interface ExtenderConfiguration {
  readonly urlPrefix: string
  readonly filterVerb?: string
  readonly prioritizeVerb?: string
  readonly preemptVerb?: string
  readonly bindVerb?: string
  readonly weight?: number
  readonly enableHTTPS?: boolean
  readonly httpTimeout?: string
  readonly nodeCacheCapable?: boolean
  readonly ignorable?: boolean
  readonly managedResources?: readonly { readonly name: string; readonly ignoredByScheduler?: boolean }[]
  /** Base64-encoded PEM. */
  readonly tlsConfig?: {
    readonly serverName?: string
    readonly caData?: string
    readonly certData?: string
    readonly keyData?: string
  }
}

export interface ExtenderVerdict {
  /** Names of the nodes that it accepts. */
  readonly fitting: ReadonlySet<string>
  readonly failed: ReadonlyMap<string, string>
  /** Failed nodes on which preemption would not help. */
  readonly unresolvable: ReadonlySet<string>
}

/** The proposed victims by node, and how many of them a disruption budget protects. */
export type ProposedVictims = ReadonlyMap<string, { readonly pods: readonly Pod[]; readonly violations: number }>

/** The victims that an extender accepts: uids by node. */
export type AgreedVictims = ReadonlyMap<string, { readonly uids: readonly string[]; readonly violations: number }>

export interface Extender {
  readonly url: string
  /** Whether scheduling continues when the extender fails. */
  readonly isIgnorable: boolean
  readonly weight: number
  /** Resources that the scheduler ignores because the extender manages them. */
  readonly ignoredResources: readonly string[]
  isInterested(pod: Pod): boolean
  readonly filter: ((pod: Pod, nodes: readonly Node[], signal: AbortSignal) => Promise<ExtenderVerdict>) | undefined
  /** Scores from 0 to 10 by node. */
  readonly prioritize:
    | ((pod: Pod, nodes: readonly Node[], signal: AbortSignal) => Promise<ReadonlyMap<string, number>>)
    | undefined
  /** The candidates that it accepts, possibly with other victims. */
  readonly preempt: ((pod: Pod, victims: ProposedVictims, signal: AbortSignal) => Promise<AgreedVictims>) | undefined
  readonly bind: ((pod: Pod, nodeName: string, signal: AbortSignal) => Promise<void>) | undefined
}

/** Extenders score up to 10, plugins up to 100. */
export const extenderScoreScale = 10
const timeoutDefault = '5s'
const responseCharsMax = 64 << 20

type ExtenderCall = (verb: string, body: object, signal: AbortSignal) => Promise<unknown>

export function extenderOf(configuration: ExtenderConfiguration, outbound: OutboundProvider, clock: Clock): Extender {
  const { urlPrefix, filterVerb, prioritizeVerb, preemptVerb, bindVerb, managedResources = [] } = configuration
  const isCached = configuration.nodeCacheCapable ?? false
  const call = extenderCall(configuration, outbound, clock)
  const argsOf = (pod: Pod, nodes: readonly Node[]) =>
    isCached
      ? { Pod: pod, NodeNames: nodes.map(({ metadata }) => metadata.name) }
      : { Pod: pod, Nodes: { apiVersion: 'v1', kind: 'NodeList', items: nodes } }
  return {
    url: urlPrefix,
    isIgnorable: configuration.ignorable ?? false,
    weight: configuration.weight ?? 1,
    ignoredResources: managedResources.filter(({ ignoredByScheduler }) => ignoredByScheduler).map(({ name }) => name),
    isInterested: (pod) =>
      managedResources.length === 0 || requestsAny(pod, new Set(managedResources.map(({ name }) => name))),
    filter: filterVerb
      ? async (pod, nodes, signal) => readFiltered(await call(filterVerb, argsOf(pod, nodes), signal))
      : undefined,
    prioritize: prioritizeVerb
      ? async (pod, nodes, signal) => readPriorities(await call(prioritizeVerb, argsOf(pod, nodes), signal))
      : undefined,
    preempt: preemptVerb
      ? async (pod, victims, signal) =>
          readVictims(await call(preemptVerb, { Pod: pod, ...writeVictims(victims, isCached) }, signal))
      : undefined,
    bind: bindVerb
      ? async (pod, Node, signal) => {
          const { name: PodName, uid: PodUID } = pod.metadata
          checkError(await call(bindVerb, { PodName, PodNamespace: namespaceOf(pod), PodUID, Node }, signal))
        }
      : undefined,
  }
}

function extenderCall(
  { urlPrefix, httpTimeout = timeoutDefault, tlsConfig }: ExtenderConfiguration,
  provider: OutboundProvider,
  clock: Clock,
): ExtenderCall {
  const { origin, pathname } = new URL(urlPrefix)
  const decoded = (data: string | undefined) => (data === undefined ? undefined : atob(data))
  const [authority, certificate, key] = [tlsConfig?.caData, tlsConfig?.certData, tlsConfig?.keyData].map(decoded)
  const tls = {
    ...(authority && { authority }),
    ...(certificate && { certificate }),
    ...(key && { key }),
    ...(tlsConfig?.serverName && { serverName: tlsConfig.serverName }),
  }
  const outbound = provider.connect({ origin, tls })
  return async (verb, body, signal) => {
    const late = new AbortController()
    const timer = clock.after(durationMs(httpTimeout), () => late.abort(new Error(`no answer within ${httpTimeout}`)))
    const target = `${pathname.replace(/\/$/, '')}/${verb}`
    const headers = { 'content-type': 'application/json', accept: 'application/json' }
    const request = { method: 'POST', target, headers, body: jsonText(body) }
    try {
      const { status, text } = await clock.outside(
        readResponse(outbound, request, AbortSignal.any([signal, late.signal])),
      )
      if (status !== 200) throw new Error(`failed ${verb} with extender at URL ${urlPrefix}, code ${status}`)
      return parseJson(text)
    } finally {
      timer.cancel()
    }
  }
}

async function readResponse(outbound: Outbound, request: OutboundRequest, signal: AbortSignal) {
  const { status, body } = await outbound.send(request, signal)
  const decoder = new TextDecoder()
  let text = ''
  for await (const piece of body) {
    text += decoder.decode(piece, { stream: true })
    if (text.length > responseCharsMax) throw new Error('the answer of an extender is too long')
  }
  return { status, text }
}

function requestsAny({ spec }: Pod, resources: ReadonlySet<string>): boolean {
  const names = [...(spec.initContainers ?? []), ...spec.containers].flatMap(({ resources: { requests, limits } }) => [
    ...Object.keys(requests ?? {}),
    ...Object.keys(limits ?? {}),
  ])
  return names.some((name) => resources.has(name))
}

/** Go matches field names case-insensitively, so extenders use any case. */
const fieldOf = (value: unknown, name: string): unknown => {
  if (!isJsonObject(value)) return undefined
  const key = Object.keys(value).find((candidate) => candidate.toLowerCase() === name)
  return key === undefined ? undefined : lookup(value, key)
}

function checkError(response: unknown): void {
  const error = fieldOf(response, 'error')
  if (typeof error === 'string' && error !== '') throw new Error(error)
}

function readFiltered(response: unknown): ExtenderVerdict {
  checkError(response)
  const names = fieldOf(response, 'nodenames')
  const items = fieldOf(fieldOf(response, 'nodes'), 'items')
  const ofItems = Array.isArray(items) ? items.map((item) => fieldOf(fieldOf(item, 'metadata'), 'name')) : []
  const fitting = (Array.isArray(names) ? names : ofItems).map(String)
  const messages = (name: string) =>
    Object.entries((fieldOf(response, name) ?? {}) as JsonObject).map(([node, why]) => [node, String(why)] as const)
  const unresolvable = messages('failedandunresolvablenodes')
  return {
    fitting: new Set(fitting),
    failed: new Map([...messages('failednodes'), ...unresolvable]),
    unresolvable: new Set(unresolvable.map(([node]) => node)),
  }
}

function readPriorities(response: unknown): ReadonlyMap<string, number> {
  if (!Array.isArray(response)) return new Map()
  return new Map(response.map((item) => [String(fieldOf(item, 'host')), Number(fieldOf(item, 'score') ?? 0)]))
}

/** An extender with its own node cache only needs uids. */
function writeVictims(victims: ProposedVictims, isCached: boolean): object {
  const byNode = Object.fromEntries(
    [...victims].map(([node, { pods, violations }]) => {
      const Pods = isCached ? pods.map(({ metadata: { uid } }) => ({ UID: uid })) : pods
      return [node, { Pods, NumPDBViolations: violations }]
    }),
  )
  return isCached ? { NodeNameToMetaVictims: byNode } : { NodeNameToVictims: byNode }
}

function readVictims(response: unknown): AgreedVictims {
  const byNode = (fieldOf(response, 'nodenametometavictims') ?? {}) as JsonObject
  return new Map(
    Object.entries(byNode).map(([node, meta]) => {
      const pods = fieldOf(meta, 'pods')
      const uids = Array.isArray(pods) ? pods.map((victim) => String(fieldOf(victim, 'uid'))) : []
      return [node, { uids, violations: Number(fieldOf(meta, 'numpdbviolations') ?? 0) }]
    }),
  )
}

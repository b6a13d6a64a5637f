// Topology hints: the zones whose traffic an endpoint should serve. With the mode `Auto`, endpoints are assigned to
// zones in proportion to the CPUs of their nodes, preferably to their own zone. If that would overload an endpoint, no
// hints are set.
import { lookup } from '../../base/collections/lookup.ts'
import { zoneLabel } from '../../api/core/v1/node/node-labels.ts'
import { isNodeReady, type Node } from '../../api/core/v1/node/node.ts'
import type { Service } from '../../api/core/v1/service/service.ts'
import type { Endpoint, EndpointHints } from '../../api/discovery/v1/endpoint.ts'
import { quantityMillis } from '../../schema/scalar/quantity.ts'

/** The accepted overload of an endpoint, as a fraction of its share. */
const overloadMax = 0.2
/** Labels of control plane nodes, whose CPUs are not counted. */
const excludedLabels = ['node-role.kubernetes.io/control-plane', 'node-role.kubernetes.io/master']

export const isAuto = ({ metadata: { annotations = {} } }: Service): boolean =>
  ['Auto', 'auto'].includes(
    annotations['service.kubernetes.io/topology-aware-hints'] ??
      annotations['service.kubernetes.io/topology-mode'] ??
      '',
  )

/** The zone for each endpoint, in order, or why no zones are assigned. */
export type ZoneHints =
  | { readonly kind: 'zones'; readonly zones: readonly string[] }
  | { readonly kind: 'none'; readonly why: string }

/** Assigns ready endpoints to zones. */
export function autoZones(endpoints: readonly Endpoint[], nodes: readonly Node[]): ZoneHints {
  const shares = sharesOf(nodes)
  if (shares === undefined)
    return none('Insufficient Node information: allocatable CPU or zone not specified on one or more nodes')
  const counts = `(${endpoints.length} endpoints, ${shares.size} zones)`
  if (shares.size > endpoints.length) return none(`Insufficient number of endpoints ${counts}`)
  const wanted = wantedOf(shares, endpoints.length)
  if (wanted === undefined)
    return none(
      `Unable to allocate minimum required endpoints to each zone without exceeding overload threshold ${counts}`,
    )
  if (endpoints.some(({ zone = '' }) => zone === '')) return none('One or more endpoints do not have a zone specified')
  return {
    kind: 'zones',
    zones: balanced(
      endpoints.map(({ zone = '' }) => zone),
      wanted,
    ),
  }
}

const none = (why: string): ZoneHints => ({ kind: 'none', why })

/** The share of CPUs of each zone; undefined if a node has no zone or CPU count, or there is only one zone. */
function sharesOf(nodes: readonly Node[]): ReadonlyMap<string, number> | undefined {
  const processors = new Map<string, number>()
  let total = 0
  for (const node of nodes) {
    const { labels = {} } = node.metadata
    if (!isNodeReady(node) || excludedLabels.some((label) => lookup(labels, label) !== undefined)) continue
    const { [zoneLabel]: zone = '' } = labels
    const millicores = millicoresOf(node)
    if (zone === '' || millicores === 0) return undefined
    processors.set(zone, (processors.get(zone) ?? 0) + millicores)
    total += millicores
  }
  return processors.size < 2
    ? undefined
    : new Map([...processors].map(([zone, millicores]) => [zone, millicores / total]))
}

const millicoresOf = ({ status }: Node): number => quantityMillis(status.allocatable?.['cpu'])

/** How many endpoints each zone should have; undefined if no distribution stays below the overload limit. */
function wantedOf(shares: ReadonlyMap<string, number>, endpoints: number): ReadonlyMap<string, number> | undefined {
  let left = endpoints
  const wanted = new Map<string, number>()
  for (const [zone, share] of shares) {
    const least = Math.ceil((share * endpoints) / (1 + overloadMax))
    wanted.set(zone, Math.max(share * endpoints, least))
    left -= least
  }
  return left < 0 ? undefined : wanted
}

/** Endpoints serve their own zone, except those that are moved from zones with too many to zones with too few. */
function balanced(own: readonly string[], wanted: ReadonlyMap<string, number>): string[] {
  const zones = [...own]
  const surplus = new Map(
    [...wanted].map(([zone, count]) => [zone, zones.filter((each) => each === zone).length - count]),
  )
  for (;;) {
    const [[giver, most] = ['', 0]] = [...surplus].toSorted(([, a], [, b]) => b - a)
    const [[taker, least] = ['', 0]] = [...surplus].toSorted(([, a], [, b]) => a - b)
    if (most < 1 || least > -1) return zones
    const given = zones.findIndex((zone, index) => zone === giver && own[index] === giver)
    zones[given] = taker
    surplus.set(giver, most - 1)
    surplus.set(taker, least + 1)
  }
}

/** Whether a change of the node can affect hints. */
export const isTopologyChange = (now: Node | undefined, before: Node | undefined): boolean =>
  now === undefined ||
  before === undefined ||
  isNodeReady(now) !== isNodeReady(before) ||
  millicoresOf(now) !== millicoresOf(before) ||
  [zoneLabel, ...excludedLabels].some(
    (label) => lookup(now.metadata.labels, label) !== lookup(before.metadata.labels, label),
  )

/** The hints for a Service that prefers the client's zone or node. */
export function preferredHints({ spec }: Service, { zone, nodeName }: Endpoint): EndpointHints | undefined {
  const { trafficDistribution: preference } = spec
  const forZones = zone === undefined ? {} : { forZones: [{ name: zone }] }
  if (preference === 'PreferSameNode' && nodeName !== undefined) return { ...forZones, forNodes: [{ name: nodeName }] }
  return preference === undefined || zone === undefined ? undefined : forZones
}

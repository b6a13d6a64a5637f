// The load balancer without a cloud: a Service of type LoadBalancer gets the addresses of the nodes, whose proxies accept
// its traffic there. Conflicts of ports are events, and end when the port is free.
import { node, type Node } from '../../api/core/v1/node/node.ts'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { service, type Service } from '../../api/core/v1/service/service.ts'
import { endpointSlice, type EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import { serviceNameLabel } from '../../api/discovery/v1/endpoint-slice-labels.ts'
import { lookup } from '../../base/collections/lookup.ts'
import { keyOf, objectKey, type ApiObject } from '../../api/meta/object.ts'
import type {
  Controller,
  ObjectIndex,
  ReconcileController,
  ReconcileTools,
} from '../../controllers/runtime/controller.ts'
import type { NodeRangeSettings } from '../../controllers/runtime/controller-settings.ts'
import { equalValues } from '../../schema/json/json-value.ts'
import { writeIngress } from '../service/ingress-status.ts'
import { nodeAddressDecision } from './node-address-decision.ts'
import { balancedPorts, claimedPorts, hostPorts, isBalancedByNodes, usedPorts } from './port-claims.ts'

/** The problems of each Service that were reported. They are reported again after a restart. */
type State = Map<string, string>
type Tools = ReconcileTools<State>

const serviceOf = ({ metadata }: ApiObject): string =>
  objectKey(metadata.namespace ?? '', lookup(metadata.labels, serviceNameLabel) ?? '')

const byService: ObjectIndex<EndpointSlice> = {
  kind: endpointSlice,
  name: 'service of load balancer',
  valuesOf: (slice) => [serviceOf(slice)],
}
const byHostPort: ObjectIndex<Pod> = { kind: pod, name: 'host ports', valuesOf: hostPorts }

const definition: ReconcileController<State> = {
  type: 'reconcile',
  name: 'node-address-load-balancer',
  account: 'service-controller',
  component: 'node-address-load-balancer',
  reconciles: service,
  watches: [service, node, pod, endpointSlice],
  indexes: [byService, byHostPort] as readonly ObjectIndex[],
  state: () => new Map(),
  enqueues(kind, { key, before, now }, tools) {
    if (kind === service) return serviceKeys(key, before as Service | undefined, now as Service | undefined, tools)
    if (kind === node)
      return equalValues(relevantTo(before as Node | undefined), relevantTo(now as Node | undefined))
        ? []
        : balancedKeys(tools)
    if (kind === pod) {
      const old = before as Pod | undefined
      const current = now as Pod | undefined
      const oldPorts = old === undefined ? [] : hostPorts(old)
      const ports = current === undefined ? [] : hostPorts(current)
      return equalValues(oldPorts, ports) ? [] : balancedKeys(tools, [...oldPorts, ...ports])
    }
    const concerned = (now ?? before) as EndpointSlice
    const owner = tools.cached(service, serviceOf(concerned))
    return owner !== undefined && isBalancedByNodes(owner) && owner.spec.externalTrafficPolicy === 'Local'
      ? [keyOf(owner)]
      : []
  },
  async reconcile(key, tools, context) {
    const found = tools.cached(service, key)
    if (found === undefined || !isBalancedByNodes(found)) {
      tools.state.delete(key)
      return undefined
    }
    const { ingress, problems } = nodeAddressDecision(found, {
      services: tools.all(service),
      nodes: tools.all(node),
      pods: balancedPorts(found).flatMap((port) => tools.byIndex(byHostPort, port)),
      slices: tools.byIndex(byService, key),
      apiServers: apiServers(tools.byIndex(byService, 'default/kubernetes')),
      reserved: reservedRanges(tools.settings.nodeRanges),
    })
    const reported = JSON.stringify(problems)
    if (tools.state.get(key) !== reported)
      for (const problem of problems) tools.recordEvent(found, { type: 'Warning', ...problem }, context)
    tools.state.set(key, reported)
    if (equalValues(found.status.loadBalancer.ingress ?? [], ingress)) return undefined
    await writeIngress(found, ingress, 'Ensured load balancer', tools, context)
    return undefined
  },
}

export const nodeAddressController: Controller = definition

/** The Service itself, and those that need a port which it takes or gives up. */
function serviceKeys(
  key: string,
  before: Service | undefined,
  now: Service | undefined,
  tools: Tools,
): readonly string[] {
  const own =
    (now !== undefined && isBalancedByNodes(now)) || (before !== undefined && isBalancedByNodes(before)) ? [key] : []
  const old = claimedPorts(before)
  const ports = claimedPorts(now)
  return equalValues(old, ports) ? own : [...own, ...balancedKeys(tools, [...old, ...ports])]
}

/** The Services with load balancers: all, or those that need one of the ports. */
const balancedKeys = ({ all }: Tools, ports?: readonly string[]): readonly string[] =>
  ports?.length === 0
    ? []
    : [...all(service)]
        .filter(
          (each) =>
            isBalancedByNodes(each) &&
            (ports === undefined || balancedPorts(each).some((port) => ports.includes(port))),
        )
        .map(keyOf)

/** Heartbeats of nodes do not concern load balancers. */
const relevantTo = (found: Node | undefined): unknown =>
  found && [
    found.metadata.labels,
    usedPorts(found),
    found.metadata.deletionTimestamp,
    found.spec.taints,
    found.status.addresses,
    found.status.conditions?.find(({ type }) => type === 'Ready')?.status,
  ]

const reservedRanges = ({ ranges, reserved }: NodeRangeSettings = { ranges: [], reserved: [] }): readonly string[] => [
  ...ranges.map(({ cidr }) => cidr),
  ...reserved,
]

const apiServers = (slices: readonly EndpointSlice[]): ReadonlyMap<string, number> =>
  new Map(
    slices.flatMap(({ endpoints, ports }) =>
      (endpoints ?? []).flatMap(({ addresses }) =>
        addresses.map((address): [string, number] => [address, ports?.[0]?.port ?? 0]),
      ),
    ),
  )

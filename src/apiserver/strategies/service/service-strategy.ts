// Service: a write allocates addresses and node ports, preserves those that a client leaves out, and releases those
// that the type does not use.
import type { IpAddress } from '../../../base/net/ip-address.ts'
import { parseIpSloppy, parseIpsSloppy } from '../../../base/net/sloppy-address.ts'
import { isHeadless, withClusterAddresses } from '../../../api/core/v1/service/service-address-rules.ts'
import type { ServicePort, ServiceSpec } from '../../../api/core/v1/service/service-spec.ts'
import { needsHealthCheck } from '../../../api/core/v1/service/service-traffic-rules.ts'
import { service, type Service } from '../../../api/core/v1/service/service.ts'
import type { IPAddress } from '../../../api/networking/v1/ip-address.ts'
import { keyOf } from '../../../api/meta/object.ts'
import { invalidObject, StatusError } from '../../../api/errors/status-error.ts'
import { invalid, type FieldError } from '../../../schema/validation/field-error.ts'
import { decideFamilies } from './ip-families.ts'
import { familiesOf, type IpFamily, type ServiceRanges } from './service-ranges.ts'
import { addressAllocation, addressOwner, addressPrefix, freeAddress, allocationProblem } from './cluster-addresses.ts'
import type { AllocationMeasures } from './allocation-measures.ts'
import { nodePortsOf, NodePortAllocator, portAllocation, portPrefix } from './node-ports.ts'
import type { Strategy, StrategyContext } from '../../registry/resource/strategy.ts'
import {
  isBalanced,
  needsClusterAddress,
  needsNodePorts,
  withPreservedFields,
  withoutUnusedFields,
} from './service-type-change.ts'

export const serviceStrategyOf = (ranges: ServiceRanges, measures: AllocationMeasures): Strategy<Service> => ({
  kind: service,
  returnsDeletedObject: true,
  prepareCreate: (object, context) =>
    withAllocations({ ...object, spec: withClusterAddresses(object.spec) }, undefined, {
      ...context,
      ranges,
      measures,
    }),
  prepareUpdate(object, old, context) {
    const kept = withPreservedFields(withoutUnusedFields(object.spec, old.spec), old.spec)
    const spec = withClusterAddresses(kept)
    const status = isBalanced(old.spec) && !isBalanced(spec) ? { ...object.status, loadBalancer: {} } : object.status
    return withAllocations({ ...object, spec, status }, old, { ...context, ranges, measures })
  },
  allocations: {
    prefixes: [addressPrefix, portPrefix],
    allocationsOf: (object) => [
      ...addressesOf(object.spec).map((address) => addressAllocation(object, address)),
      ...nodePortsOf(object).map((port) => portAllocation(object, port)),
    ],
    ownerOf(value) {
      const allocation = JSON.parse(new TextDecoder().decode(value)) as { holder?: string }
      return allocation.holder ?? addressOwner(allocation as Partial<IPAddress>)
    },
  },
})

const addressesOf = ({ clusterIPs = [] }: ServiceSpec): readonly IpAddress[] => parseIpsSloppy(clusterIPs)

interface AllocationContext extends StrategyContext {
  readonly ranges: ServiceRanges
  readonly measures: AllocationMeasures
}

function withAllocations(object: Service, old: Service | undefined, context: AllocationContext): Service {
  if (!needsClusterAddress(object.spec)) return object
  const verdict = decideFamilies(object.spec, old?.spec, familiesOf(context.ranges))
  if (verdict.kind === 'rejected') throw invalidService(object, ...verdict.errors)
  const spec = withAddresses({ ...object, spec: verdict.spec }, old, context)
  const allocator = new NodePortAllocator(context, context.ranges.nodePorts, context.measures, keyOf(object))
  const held = old && new Set(nodePortsOf(old))
  const ported = withNodePorts({ ...object, spec }, held, allocator)
  return { ...object, spec: withHealthCheckPort({ ...object, spec: ported }, old, allocator) }
}

const invalidService = ({ metadata }: Service, ...errors: FieldError[]): StatusError =>
  invalidObject('', service.kind, metadata.name ?? '', errors)

const internalError = (message: string): StatusError =>
  new StatusError(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] })

const exhausted = (what: string): StatusError => internalError(`failed to allocate a ${what}: range is full`)

/** Requested addresses are checked, and missing ones are chosen: one for each family. */
function withAddresses(object: Service, old: Service | undefined, context: AllocationContext): ServiceSpec {
  const { spec } = object
  const { ranges, measures } = context
  if (isHeadless(spec)) return spec
  const held = old === undefined ? [] : addressesOf(old.spec)
  const requested = spec.clusterIPs ?? []
  for (const text of requested) {
    const address = parseIpSloppy(text)
    if (address === undefined || held.includes(address)) continue
    const why = allocationProblem(context, ranges, measures, address)
    if (why !== undefined)
      throw invalidService(object, invalid('spec.clusterIPs', requested, `failed to allocate IP ${text}: ${why}`))
  }
  const chosen = (spec.ipFamilies ?? []).slice(requested.length).map((family) => {
    const address = freeAddress(context, ranges, measures, family as IpFamily)
    if (address === undefined) throw exhausted('serviceIP')
    return address
  })
  const clusterIPs = [...requested, ...chosen]
  return { ...spec, ...(clusterIPs[0] === undefined ? {} : { clusterIP: clusterIPs[0] }), clusterIPs }
}

/**
 * Ports with the same number share a node port, whatever their protocols. As upstream, other ports of a new Service cannot
 * request a node port twice; an update can, and is rejected by validation if the protocols are equal.
 */
function withNodePorts(
  object: Service,
  held: ReadonlySet<number> | undefined,
  allocator: NodePortAllocator,
): ServiceSpec {
  const { spec } = object
  if (spec.type === 'ClusterIP' || spec.ports === undefined) return spec
  const byPort = new Map<number, number>()
  const taken = new Set<number>()
  for (const [index, { port, nodePort }] of spec.ports.entries()) {
    if (nodePort === undefined) continue
    const isShared = held === undefined ? byPort.get(port) === nodePort : taken.has(nodePort) || held.has(nodePort)
    const why = isShared ? undefined : allocator.take(nodePort)
    if (why !== undefined) throw invalidService(object, invalid(`spec.ports[${index}].nodePort`, nodePort, why))
    byPort.set(port, byPort.get(port) ?? nodePort)
    taken.add(nodePort)
  }
  if (!needsNodePorts(spec)) return spec
  const ports = spec.ports.map((port): ServicePort => {
    if (port.nodePort !== undefined) return port
    const nodePort = byPort.get(port.port) ?? allocator.takeAny()
    if (nodePort === undefined) throw exhausted('nodePort')
    byPort.set(port.port, nodePort)
    return { ...port, nodePort }
  })
  return { ...spec, ports }
}

function withHealthCheckPort(object: Service, old: Service | undefined, allocator: NodePortAllocator): ServiceSpec {
  const { spec } = object
  if (!needsHealthCheck(spec)) return spec
  const { healthCheckNodePort: requested } = spec
  if (requested === undefined) {
    const port = allocator.takeAny()
    if (port === undefined) throw exhausted('HealthCheck NodePort 0')
    return { ...spec, healthCheckNodePort: port }
  }
  const why = requested === old?.spec.healthCheckNodePort ? undefined : allocator.take(requested)
  if (why !== undefined) throw internalError(`failed to allocate requested HealthCheck NodePort ${requested}: ${why}`)
  return spec
}

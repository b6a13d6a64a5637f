// Service: a write allocates addresses and node ports, preserves those that a client leaves out, and releases those
// that the type does not use.
import { isHeadless } from '../../../api/core/v1/service/service-address-rules.ts'
import type { ServicePort, ServiceSpec } from '../../../api/core/v1/service/service-spec.ts'
import { needsHealthCheck } from '../../../api/core/v1/service/service-traffic-rules.ts'
import { service, type Service } from '../../../api/core/v1/service/service.ts'
import { isIpV4 } from '../../../api/validation/network-rules.ts'
import type { IPAddress } from '../../../api/networking/v1/ip-address.ts'
import { keyOf } from '../../../api/meta/object.ts'
import { invalidObject, StatusError } from '../../../api/errors/status-error.ts'
import { invalid, type FieldError } from '../../../schema/validation/field-error.ts'
import { addressAllocation, addressOwner, addressPrefix, freeAddress, allocationProblem } from './cluster-addresses.ts'
import { nodePortsOf, NodePortAllocator, portAllocation, portPrefix } from './node-ports.ts'
import type { Strategy, StrategyContext } from '../../registry/strategy.ts'
import { needsClusterAddress, needsNodePorts, withPreservedFields, withoutUnusedFields } from './service-type-change.ts'

export const serviceStrategy: Strategy<Service> = {
  kind: service,
  returnsDeletedObject: true,
  prepareCreate: (object, context) => withAllocations(object, undefined, context),
  prepareUpdate(object, old, context) {
    const spec = withPreservedFields(withoutUnusedFields(object.spec, old.spec), old.spec)
    return withAllocations({ ...object, spec }, old, context)
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
}

const addressesOf = ({ clusterIPs = [] }: ServiceSpec): string[] => clusterIPs.filter(isIpV4)

function withAllocations(object: Service, old: Service | undefined, context: StrategyContext): Service {
  if (!needsClusterAddress(object.spec)) return object
  checkFamilies(object)
  const spec = withAddress(object, old, context)
  const allocator = new NodePortAllocator(context, keyOf(object))
  const ported = withNodePorts({ ...object, spec }, new Set(old === undefined ? [] : nodePortsOf(old)), allocator)
  return { ...object, spec: withHealthCheckPort({ ...object, spec: ported }, old, allocator) }
}

/** The cluster is IPv4 only; headless Services without a selector may have both families. */
function checkFamilies(object: Service): void {
  const { spec } = object
  if (isHeadless(spec) && spec.selector === undefined) return
  const errors: FieldError[] = []
  if (spec.ipFamilyPolicy === 'RequireDualStack')
    errors.push(
      invalid('spec.ipFamilyPolicy', spec.ipFamilyPolicy, 'this cluster is not configured for dual-stack services'),
    )
  for (const [index, family] of (spec.ipFamilies ?? []).entries())
    if (family === 'IPv6') errors.push(invalid(`spec.ipFamilies[${index}]`, family, 'not configured on this cluster'))
  if (errors.length > 0) throw invalidService(object, ...errors)
}

const invalidService = ({ metadata }: Service, ...errors: FieldError[]): StatusError =>
  invalidObject('', service.kind, metadata.name ?? '', errors)

const exhausted = (what: string): StatusError =>
  new StatusError(500, 'InternalError', `Internal error occurred: failed to allocate a ${what}: range is full`, {
    causes: [{ reason: 'UnexpectedServerResponse', message: `failed to allocate a ${what}: range is full` }],
  })

function withAddress(object: Service, old: Service | undefined, context: StrategyContext): ServiceSpec {
  const { spec } = object
  if (isHeadless(spec)) return spec
  const held = old === undefined ? [] : addressesOf(old.spec)
  for (const [index, address] of (spec.clusterIPs ?? []).entries()) {
    const why = !isIpV4(address) || held.includes(address) ? undefined : allocationProblem(context, address)
    if (why !== undefined)
      throw invalidService(
        object,
        invalid(`spec.clusterIPs[${index}]`, address, `failed to allocate IP ${address}: ${why}`),
      )
  }
  if (spec.clusterIP !== undefined || (spec.clusterIPs?.length ?? 0) > 0) return spec
  const address = freeAddress(context)
  if (address === undefined) throw exhausted('serviceIP')
  return { ...spec, clusterIP: address, clusterIPs: [address] }
}

// Ports with the same number share a node port, whatever their protocols.
function withNodePorts(object: Service, held: ReadonlySet<number>, allocator: NodePortAllocator): ServiceSpec {
  const { spec } = object
  if (spec.type === 'ClusterIP' || spec.ports === undefined) return spec
  const taken = new Set<number>()
  const take = (port: number, index: number) => {
    if (taken.has(port)) return
    const why = allocator.take(port)
    if (why !== undefined && !held.has(port))
      throw invalidService(object, invalid(`spec.ports[${index}].nodePort`, port, why))
    taken.add(port)
  }
  for (const [index, { nodePort }] of spec.ports.entries()) if (nodePort !== undefined) take(nodePort, index)
  if (!needsNodePorts(spec)) return spec
  const byPort = new Map<number, number>()
  for (const { port, nodePort } of spec.ports)
    if (nodePort !== undefined) byPort.set(port, byPort.get(port) ?? nodePort)
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
    if (port === undefined) throw exhausted('HealthCheck NodePort')
    return { ...spec, healthCheckNodePort: port }
  }
  const why = requested === old?.spec.healthCheckNodePort ? undefined : allocator.take(requested)
  if (why !== undefined)
    throw invalidService(
      object,
      invalid(
        'spec.healthCheckNodePort',
        requested,
        `failed to allocate requested HealthCheck NodePort ${requested}: ${why}`,
      ),
    )
  return spec
}

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
  prepareCreate: (object, world) => withAllocations(object, undefined, world),
  prepareUpdate(object, old, world) {
    const spec = withPreservedFields(withoutUnusedFields(object.spec, old.spec), old.spec)
    return withAllocations({ ...object, spec }, old, world)
  },
  allocations: {
    prefixes: [addressPrefix, portPrefix],
    allocationsOf: (object) => [
      ...addressesOf(object.spec).map((address) => addressAllocation(object, address)),
      ...nodePortsOf(object).map((port) => portAllocation(object, port)),
    ],
    ownerOf(value) {
      const claim = JSON.parse(new TextDecoder().decode(value)) as { holder?: string }
      return claim.holder ?? addressOwner(claim as Partial<IPAddress>)
    },
  },
}

const addressesOf = ({ clusterIPs = [] }: ServiceSpec): string[] => clusterIPs.filter(isIpV4)

function withAllocations(object: Service, old: Service | undefined, world: StrategyContext): Service {
  if (!needsClusterAddress(object.spec)) return object
  checkFamilies(object)
  const spec = withAddress(object, old, world)
  const chooser = new NodePortAllocator(world, keyOf(object))
  const ported = withNodePorts({ ...object, spec }, new Set(old === undefined ? [] : nodePortsOf(old)), chooser)
  return { ...object, spec: withHealthCheckPort({ ...object, spec: ported }, old, chooser) }
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

function withAddress(object: Service, old: Service | undefined, world: StrategyContext): ServiceSpec {
  const { spec } = object
  if (isHeadless(spec)) return spec
  const held = old === undefined ? [] : addressesOf(old.spec)
  for (const [index, address] of (spec.clusterIPs ?? []).entries()) {
    const why = !isIpV4(address) || held.includes(address) ? undefined : allocationProblem(world, address)
    if (why !== undefined)
      throw invalidService(
        object,
        invalid(`spec.clusterIPs[${index}]`, address, `failed to allocate IP ${address}: ${why}`),
      )
  }
  if (spec.clusterIP !== undefined || (spec.clusterIPs?.length ?? 0) > 0) return spec
  const address = freeAddress(world)
  if (address === undefined) throw exhausted('serviceIP')
  return { ...spec, clusterIP: address, clusterIPs: [address] }
}

// Ports with the same number share a node port, whatever their protocols.
function withNodePorts(object: Service, held: ReadonlySet<number>, chooser: NodePortAllocator): ServiceSpec {
  const { spec } = object
  if (spec.type === 'ClusterIP' || spec.ports === undefined) return spec
  const taken = new Set<number>()
  const take = (port: number, index: number) => {
    if (taken.has(port)) return
    const why = chooser.take(port)
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
    const nodePort = byPort.get(port.port) ?? chooser.takeAny()
    if (nodePort === undefined) throw exhausted('nodePort')
    byPort.set(port.port, nodePort)
    return { ...port, nodePort }
  })
  return { ...spec, ports }
}

function withHealthCheckPort(object: Service, old: Service | undefined, chooser: NodePortAllocator): ServiceSpec {
  const { spec } = object
  if (!needsHealthCheck(spec)) return spec
  const { healthCheckNodePort: asked } = spec
  if (asked === undefined) {
    const port = chooser.takeAny()
    if (port === undefined) throw exhausted('HealthCheck NodePort')
    return { ...spec, healthCheckNodePort: port }
  }
  const why = asked === old?.spec.healthCheckNodePort ? undefined : chooser.take(asked)
  if (why !== undefined)
    throw invalidService(
      object,
      invalid('spec.healthCheckNodePort', asked, `failed to allocate requested HealthCheck NodePort ${asked}: ${why}`),
    )
  return spec
}

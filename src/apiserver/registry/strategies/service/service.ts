// Service: it gets its addresses and node ports when it is written, keeps what a client does not repeat, and gives back
// what its type has no use for.
import { isHeadless } from '../../../../api/core/v1/service-address-rules.ts'
import type { ServicePort, ServiceSpec } from '../../../../api/core/v1/service-spec.ts'
import { needsHealthCheck } from '../../../../api/core/v1/service-traffic-rules.ts'
import { service, type Service } from '../../../../api/core/v1/service.ts'
import { isIpV4 } from '../../../../api/network-rules.ts'
import type { IPAddress } from '../../../../api/networking/v1/ip-address.ts'
import { keyOf } from '../../../../api/object.ts'
import { invalidObject, StatusError } from '../../../../api/status-error.ts'
import { invalid, type FieldError } from '../../../../schema/field-error.ts'
import {
  addressClaim,
  addressHolder,
  addressPrefix,
  freeAddress,
  refusalOf,
} from '../../allocation/cluster-addresses.ts'
import { nodePortsOf, PortChooser, portClaim, portPrefix } from '../../allocation/node-ports.ts'
import type { Strategy, World } from '../../strategy.ts'
import { needsClusterAddress, needsNodePorts, withKept, withoutUnused } from './type-change.ts'

export const serviceStrategy: Strategy<Service> = {
  kind: service,
  answersDeleted: true,
  prepareCreate: (object, world) => allocated(object, undefined, world),
  prepareUpdate(object, old, world) {
    const spec = withKept(withoutUnused(object.spec, old.spec), old.spec)
    return allocated({ ...object, spec }, old, world)
  },
  claims: {
    prefixes: [addressPrefix, portPrefix],
    claimsOf: (object) => [
      ...addressesOf(object.spec).map((address) => addressClaim(object, address)),
      ...nodePortsOf(object).map((port) => portClaim(object, port)),
    ],
    holderOf(value) {
      const claim = JSON.parse(new TextDecoder().decode(value)) as { holder?: string }
      return claim.holder ?? addressHolder(claim as Partial<IPAddress>)
    },
  },
}

const addressesOf = ({ clusterIPs = [] }: ServiceSpec): string[] => clusterIPs.filter(isIpV4)

function allocated(object: Service, old: Service | undefined, world: World): Service {
  if (!needsClusterAddress(object.spec)) return object
  checkFamilies(object)
  const spec = withAddress(object, old, world)
  const chooser = new PortChooser(world, keyOf(object))
  const ported = withNodePorts({ ...object, spec }, new Set(old === undefined ? [] : nodePortsOf(old)), chooser)
  return { ...object, spec: withHealthCheckPort({ ...object, spec: ported }, old, chooser) }
}

/** The cluster has IPv4 only; names without pods may still have both families. */
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
  if (errors.length > 0) throw refusal(object, ...errors)
}

const refusal = ({ metadata }: Service, ...errors: FieldError[]): StatusError =>
  invalidObject('', service.kind, metadata.name ?? '', errors)

const exhausted = (what: string): StatusError =>
  new StatusError(500, 'InternalError', `Internal error occurred: failed to allocate a ${what}: range is full`, {
    causes: [{ reason: 'UnexpectedServerResponse', message: `failed to allocate a ${what}: range is full` }],
  })

function withAddress(object: Service, old: Service | undefined, world: World): ServiceSpec {
  const { spec } = object
  if (isHeadless(spec)) return spec
  const held = old === undefined ? [] : addressesOf(old.spec)
  for (const [index, address] of (spec.clusterIPs ?? []).entries()) {
    const why = !isIpV4(address) || held.includes(address) ? undefined : refusalOf(world, address)
    if (why !== undefined)
      throw refusal(object, invalid(`spec.clusterIPs[${index}]`, address, `failed to allocate IP ${address}: ${why}`))
  }
  if (spec.clusterIP !== undefined || (spec.clusterIPs?.length ?? 0) > 0) return spec
  const address = freeAddress(world)
  if (address === undefined) throw exhausted('serviceIP')
  return { ...spec, clusterIP: address, clusterIPs: [address] }
}

// Ports of one number share a node port, whatever their protocols.
function withNodePorts(object: Service, held: ReadonlySet<number>, chooser: PortChooser): ServiceSpec {
  const { spec } = object
  if (spec.type === 'ClusterIP' || spec.ports === undefined) return spec
  const taken = new Set<number>()
  const take = (port: number, index: number) => {
    if (taken.has(port)) return
    const why = chooser.take(port)
    if (why !== undefined && !held.has(port)) throw refusal(object, invalid(`spec.ports[${index}].nodePort`, port, why))
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

function withHealthCheckPort(object: Service, old: Service | undefined, chooser: PortChooser): ServiceSpec {
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
    throw refusal(
      object,
      invalid('spec.healthCheckNodePort', asked, `failed to allocate requested HealthCheck NodePort ${asked}: ${why}`),
    )
  return spec
}

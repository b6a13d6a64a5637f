// Rules of a Service: defaults that depend on its type, its ports, its session affinity, and requirements of each type.
import { append } from '../../../../base/collections/append.ts'
import { duplicate, forbidden, invalid, required, type FieldError } from '../../../../schema/validation/field-error.ts'
import { without } from '../../../../schema/json/json-value.ts'
import { validateLabels } from '../../../validation/metadata-rules.ts'
import { dnsLabelErrors, dnsSubdomainErrors, qualifiedNameErrors } from '../../../validation/names.ts'
import { portErrors, portNameErrors } from '../../../validation/network-rules.ts'
import type { ServicePort, ServiceSpec } from './service-spec.ts'
import { isHeadless, validateClusterAddresses, validateExternalAddresses } from './service-address-rules.ts'
import { isReachableFromOutside, validateTraffic } from './service-traffic-rules.ts'

const affinitySecondsDefault = 10_800
const affinitySecondsMax = 86_400
const kubeletPort = 10_250

export function withServiceDefaults(spec: ServiceSpec): ServiceSpec {
  const ports = spec.ports?.map((port) =>
    port.targetPort === undefined || port.targetPort === 0 || port.targetPort === ''
      ? { ...port, targetPort: port.port }
      : port,
  )
  const filled = { ...spec, ...(ports === undefined ? {} : { ports }) }
  return withTrafficDefaults(withAffinityDefaults(filled))
}

function withAffinityDefaults(spec: ServiceSpec): ServiceSpec {
  if (spec.sessionAffinity === 'None') return without(spec, 'sessionAffinityConfig')
  if (spec.sessionAffinity !== 'ClientIP' || spec.sessionAffinityConfig?.clientIP?.timeoutSeconds !== undefined)
    return spec
  return { ...spec, sessionAffinityConfig: { clientIP: { timeoutSeconds: affinitySecondsDefault } } }
}

const withTrafficDefaults = (spec: ServiceSpec): ServiceSpec => ({
  ...spec,
  ...(isReachableFromOutside(spec) ? { externalTrafficPolicy: spec.externalTrafficPolicy ?? 'Cluster' } : {}),
  ...(['ClusterIP', 'LoadBalancer', 'NodePort'].includes(spec.type)
    ? { internalTrafficPolicy: spec.internalTrafficPolicy ?? 'Cluster' }
    : {}),
  ...(spec.type === 'LoadBalancer'
    ? { allocateLoadBalancerNodePorts: spec.allocateLoadBalancerNodePorts ?? true }
    : {}),
})

/** `storedRanges` are the source ranges of the stored Service, which are accepted as they are. */
export function validateServiceSpec(
  spec: ServiceSpec,
  annotations: Readonly<Record<string, string>>,
  storedRanges: readonly string[],
): FieldError[] {
  const { ports = [], selector = {}, type } = spec
  const errors: FieldError[] = []
  if (ports.length === 0 && !isHeadless(spec) && type !== 'ExternalName') errors.push(required('spec.ports'))
  append(errors, validateType(spec))
  const names = new Set<string>()
  for (const [index, port] of ports.entries())
    append(errors, validatePort(port, `spec.ports[${index}]`, ports.length > 1, names))
  append(errors, validateLabels(selector, 'spec.selector'))
  append(errors, validateAffinity(spec, 'spec.sessionAffinityConfig'))
  append(errors, [...validateClusterAddresses(spec), ...validateExternalAddresses(spec)])
  append(errors, [...validatePortsTogether(spec), ...validateTraffic(spec, annotations, storedRanges)])
  return errors
}

function validateType(spec: ServiceSpec): FieldError[] {
  const { type, ports = [], clusterIPs = [], externalName = '' } = spec
  if (type === 'ExternalName') {
    const cname = externalName.replace(/\.$/, '')
    return [
      ...(['clusterIPs', 'ipFamilies', 'ipFamilyPolicy'] as const)
        .filter((field) => spec[field] !== undefined)
        .map((field) => forbidden(`spec.${field}`, 'may not be set for ExternalName services')),
      ...(cname === '' ? [required('spec.externalName')] : []),
      ...(cname === '' ? [] : dnsSubdomainErrors(cname).map((detail) => invalid('spec.externalName', cname, detail))),
    ]
  }
  const errors: FieldError[] = []
  if (type === 'LoadBalancer')
    for (const [index, { port }] of ports.entries())
      if (port === kubeletPort)
        errors.push(
          invalid(
            `spec.ports[${index}]`,
            port,
            `may not expose port ${kubeletPort} externally since it is used by kubelet`,
          ),
        )
  if ((type === 'LoadBalancer' || type === 'NodePort') && isHeadless(spec))
    errors.push(invalid('spec.clusterIPs[0]', clusterIPs[0], `may not be set to 'None' for ${type} services`))
  return errors
}

function validatePort(port: ServicePort, path: string, needsName: boolean, names: Set<string>): FieldError[] {
  const { name, targetPort = 0, appProtocol } = port
  const errors: FieldError[] = []
  if (name !== undefined) {
    append(
      errors,
      dnsLabelErrors(name).map((detail) => invalid(`${path}.name`, name, detail)),
    )
    if (names.has(name)) errors.push(duplicate(`${path}.name`, name))
    names.add(name)
  } else if (needsName) errors.push(required(`${path}.name`))
  append(
    errors,
    portErrors(port.port).map((detail) => invalid(`${path}.port`, port.port, detail)),
  )
  const targetErrors = typeof targetPort === 'number' ? portErrors(targetPort) : portNameErrors(targetPort)
  append(
    errors,
    targetErrors.map((detail) => invalid(`${path}.targetPort`, targetPort, detail)),
  )
  if (appProtocol !== undefined)
    append(
      errors,
      qualifiedNameErrors(appProtocol).map((detail) => invalid(`${path}.appProtocol`, appProtocol, detail)),
    )
  return errors
}

// Ports are identified by protocol and number, on the service and on the nodes.
function validatePortsTogether({ type, ports = [] }: ServiceSpec): FieldError[] {
  const misplaced = ports.flatMap(({ nodePort }, index) =>
    type === 'ClusterIP' && nodePort !== undefined
      ? [forbidden(`spec.ports[${index}].nodePort`, "may not be used when `type` is 'ClusterIP'")]
      : [],
  )
  const onNodes = repeated(ports, ({ protocol, nodePort }) =>
    nodePort === undefined ? undefined : `${protocol}/${nodePort}`,
  )
  const onService = repeated(ports, ({ protocol, port }) => `${protocol}/${port}`)
  return [
    ...misplaced,
    ...onNodes.map(([index, { nodePort }]) => duplicate(`spec.ports[${index}].nodePort`, nodePort)),
    ...onService.map(([index, { protocol, port }]) => duplicate(`spec.ports[${index}]`, shownKey(protocol, port))),
  ]
}

/** The ports, with their indexes, whose key is that of an earlier port. */
function repeated(
  ports: readonly ServicePort[],
  keyOf: (port: ServicePort) => string | undefined,
): [number, ServicePort][] {
  const seen = new Set<string>()
  return [...ports.entries()].filter(([, port]) => {
    const key = keyOf(port)
    if (key === undefined || seen.has(key)) return key !== undefined
    seen.add(key)
    return false
  })
}

/** Upstream shows the key in the form of its struct. */
const shownKey = (protocol: string, port: number): object => ({
  Name: '',
  Protocol: protocol,
  AppProtocol: null,
  Port: port,
  TargetPort: 0,
  NodePort: 0,
})

function validateAffinity({ sessionAffinity, sessionAffinityConfig }: ServiceSpec, path: string): FieldError[] {
  if (sessionAffinity !== 'ClientIP') return []
  const seconds = sessionAffinityConfig?.clientIP?.timeoutSeconds
  const at = `${path}.clientIP.timeoutSeconds`
  if (seconds === undefined) return [required(at, 'when session affinity type is ClientIP')]
  return seconds > 0 && seconds <= affinitySecondsMax
    ? []
    : [invalid(at, seconds, `must be greater than 0 and less than ${affinitySecondsMax}`)]
}

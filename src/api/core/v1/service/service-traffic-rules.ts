// Traffic of a Service: fields that are only for load balancers, or only for services with external access.
import { append } from '../../../../base/collections/append.ts'
import { isIpSloppy } from '../../../../base/net/sloppy-address.ts'
import {
  forbidden,
  invalid,
  notSupported,
  required,
  type FieldError,
} from '../../../../schema/validation/field-error.ts'
import { dnsSubdomainErrors, qualifiedNameErrors } from '../../../validation/names.ts'
import { ipErrors, portErrors, cidrErrors } from '../../../validation/network-rules.ts'
import type { LoadBalancerIngress, LoadBalancerStatus, ServiceSpec } from './service-spec.ts'

const sourceRangesAnnotation = 'service.beta.kubernetes.io/load-balancer-source-ranges'
const onlyBalanced = "may only be used when `type` is 'LoadBalancer'"
const distributions = ['PreferClose', 'PreferSameNode', 'PreferSameZone']

export const isReachableFromOutside = ({ type, externalIPs = [] }: ServiceSpec): boolean =>
  type === 'LoadBalancer' || type === 'NodePort' || (type === 'ClusterIP' && externalIPs.length > 0)

/** A load balancer with the external traffic policy Local checks which nodes have pods. */
export const needsHealthCheck = ({ type, externalTrafficPolicy }: ServiceSpec): boolean =>
  type === 'LoadBalancer' && externalTrafficPolicy === 'Local'

export function validateTraffic(
  spec: ServiceSpec,
  annotations: Readonly<Record<string, string>>,
  storedRanges: readonly string[],
): FieldError[] {
  const { type, trafficDistribution: distribution } = spec
  const errors = validateSourceRanges(spec, annotations, new Set(storedRanges))
  if (spec.allocateLoadBalancerNodePorts !== undefined && type !== 'LoadBalancer')
    errors.push(forbidden('spec.allocateLoadBalancerNodePorts', onlyBalanced))
  append(errors, validateBalancerClass(spec))
  append(errors, validateExternalTraffic(spec))
  if (distribution !== undefined && !distributions.includes(distribution))
    errors.push(notSupported('spec.trafficDistribution', distribution, distributions))
  return errors
}

// The spelling of the path is upstream's. A deprecated annotation is used if the field is absent.
function validateSourceRanges(
  spec: ServiceSpec,
  annotations: Readonly<Record<string, string>>,
  stored: ReadonlySet<string>,
): FieldError[] {
  const { type, loadBalancerSourceRanges } = spec
  const isField = loadBalancerSourceRanges !== undefined
  if (!isField && annotations[sourceRangesAnnotation] === undefined) return []
  const path = isField ? 'spec.LoadBalancerSourceRanges' : `metadata.annotations[${sourceRangesAnnotation}]`
  return [
    ...(type === 'LoadBalancer' ? [] : [forbidden(path, onlyBalanced)]),
    ...sourceRangesOf(spec, annotations).flatMap((range, index) =>
      cidrErrors(range, stored).map((detail) => invalid(isField ? `${path}[${index}]` : path, range, detail)),
    ),
  ]
}

/** Without the spaces around them. */
export function sourceRangesOf(
  spec: Pick<ServiceSpec, 'loadBalancerSourceRanges'> = {},
  annotations: Readonly<Record<string, string>> = {},
): readonly string[] {
  const annotation = annotations[sourceRangesAnnotation]
  const ranges = spec.loadBalancerSourceRanges ?? (annotation?.trim() ? annotation.split(',') : [])
  return ranges.map((range) => range.trim())
}

function validateBalancerClass({ type, loadBalancerClass: name }: ServiceSpec): FieldError[] {
  if (name === undefined) return []
  return type === 'LoadBalancer'
    ? qualifiedNameErrors(name).map((detail) => invalid('spec.loadBalancerClass', name, detail))
    : [forbidden('spec.loadBalancerClass', onlyBalanced)]
}

function validateExternalTraffic(spec: ServiceSpec): FieldError[] {
  const { externalTrafficPolicy: policy, healthCheckNodePort: port } = spec
  const errors: FieldError[] = []
  if (!isReachableFromOutside(spec) && policy !== undefined)
    errors.push(invalid('spec.externalTrafficPolicy', policy, 'may only be set for externally-accessible services'))
  if (port === undefined) return errors
  const details = needsHealthCheck(spec)
    ? portErrors(port)
    : ["may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"]
  return [...errors, ...details.map((detail) => invalid('spec.healthCheckNodePort', port, detail))]
}

/** The default mode of an address of a load balancer is VIP. */
export const withAddressModes = ({ ingress, ...rest }: LoadBalancerStatus): LoadBalancerStatus =>
  ingress === undefined
    ? rest
    : {
        ...rest,
        ingress: ingress.map((entry) =>
          entry.ip !== undefined && entry.ipMode === undefined ? { ...entry, ipMode: 'VIP' } : entry,
        ),
      }

export const validateLoadBalancerStatus = ({ ingress = [] }: LoadBalancerStatus, path: string): FieldError[] =>
  ingress.flatMap((entry, index) => validateIngress(entry, `${path}.ingress[${index}]`))

function validateIngress({ ip, ipMode, hostname }: LoadBalancerIngress, path: string): FieldError[] {
  const errors: FieldError[] = []
  if (ip !== undefined)
    append(
      errors,
      ipErrors(ip).map((detail) => invalid(`${path}.ip`, ip, detail)),
    )
  if (ip !== undefined && ipMode === undefined)
    errors.push(required(`${path}.ipMode`, 'must be specified when `ip` is set'))
  if (ip === undefined && ipMode !== undefined)
    errors.push(forbidden(`${path}.ipMode`, 'may not be specified when `ip` is not set'))
  else if (ipMode !== undefined && ipMode !== 'Proxy' && ipMode !== 'VIP')
    errors.push(notSupported(`${path}.ipMode`, ipMode, ['Proxy', 'VIP']))
  if (hostname === undefined) return errors
  append(
    errors,
    dnsSubdomainErrors(hostname).map((detail) => invalid(`${path}.hostname`, hostname, detail)),
  )
  if (isIpSloppy(hostname)) errors.push(invalid(`${path}.hostname`, hostname, 'must be a DNS name, not an IP address'))
  return errors
}

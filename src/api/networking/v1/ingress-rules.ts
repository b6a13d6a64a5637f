// Rules of an Ingress: hosts, paths and their backends.
import { append } from '../../../base/collections/append.ts'
import { isIpSloppy } from '../../../base/net/sloppy-address.ts'
import { wholePattern } from '../../../base/text/whole-pattern.ts'
import { invalid, required, type FieldError } from '../../../schema/validation/field-error.ts'
import type { TypedLocalObjectReference } from '../../core/v1/references.ts'
import { dns1035LabelErrors, dnsSubdomainErrors, pathSegmentErrors } from '../../validation/names.ts'
import { ipErrors, portErrors, portNameErrors } from '../../validation/network-rules.ts'
import type {
  HTTPIngressPath,
  IngressBackend,
  IngressLoadBalancerIngress,
  IngressServiceBackend,
  IngressSpec,
  IngressTLS,
} from './ingress-spec.ts'

const classAnnotation = 'kubernetes.io/ingress.class'
const badPathParts = ['//', '/./', '/../', '%2f', '%2F']
const badPathEnds = ['/..', '/.']

export function validateIngress(spec: IngressSpec, annotations: Readonly<Record<string, string>>): FieldError[] {
  const { rules = [], tls = [], defaultBackend, ingressClassName } = spec
  const errors: FieldError[] = []
  if (rules.length === 0 && defaultBackend === undefined)
    errors.push(invalid('spec', spec.rules, 'either `defaultBackend` or `rules` must be specified'))
  if (defaultBackend !== undefined) append(errors, validateBackend(defaultBackend, 'spec.defaultBackend'))
  for (const [index, { host, http }] of rules.entries()) {
    const at = `spec.rules[${index}]`
    if (host) append(errors, validateRuleHost(host, `${at}.host`))
    if (http !== undefined) append(errors, validatePaths(http.paths ?? [], `${at}.http.paths`))
  }
  for (const [index, entry] of tls.entries()) append(errors, validateTls(entry, `spec.tls[${index}]`))
  if (ingressClassName !== undefined)
    append(errors, invalidAll('spec.ingressClassName', ingressClassName, dnsSubdomainErrors(ingressClassName)))
  const annotation = annotations[classAnnotation]
  if (annotation !== undefined && ingressClassName !== undefined && annotation !== ingressClassName)
    errors.push(
      invalid(`annotations.${classAnnotation}`, annotation, 'must match `ingressClassName` when both are specified'),
    )
  return errors
}

const invalidAll = (path: string, value: unknown, details: readonly string[]): FieldError[] =>
  details.map((detail) => invalid(path, value, detail))

const validateRuleHost = (host: string, path: string): FieldError[] => [
  ...(isIpSloppy(host) ? [invalid(path, host, 'must be a DNS name, not an IP address')] : []),
  ...validateHost(host, path),
]

const validateHost = (host: string, path: string): FieldError[] =>
  invalidAll(path, host, host.includes('*') ? wildcardErrors(host) : dnsSubdomainErrors(host))

const wildcardFormat = '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'
const wildcardPattern = wholePattern(wildcardFormat)

const wildcardErrors = (host: string): string[] =>
  wildcardPattern.test(host)
    ? []
    : [
        `a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '${wildcardFormat}')`,
      ]

function validateTls({ hosts = [], secretName }: IngressTLS, path: string): FieldError[] {
  const errors = hosts.flatMap((host, index) => validateHost(host, `${path}.hosts[${index}]`))
  if (secretName) append(errors, invalidAll(`${path}.secretName`, secretName, dnsSubdomainErrors(secretName)))
  return errors
}

const validatePaths = (paths: readonly HTTPIngressPath[], path: string): FieldError[] =>
  paths.length === 0 ? [required(path)] : paths.flatMap((entry, index) => validatePath(entry, `${path}[${index}]`))

function validatePath({ pathType, path = '', backend }: HTTPIngressPath, at: string): FieldError[] {
  if (pathType === undefined) return [required(`${at}.pathType`, 'pathType must be specified')]
  const errors: FieldError[] = []
  const isExact = pathType === 'Exact' || pathType === 'Prefix'
  const isAbsolute = path.startsWith('/')
  if (isExact ? !isAbsolute : pathType === 'ImplementationSpecific' && path !== '' && !isAbsolute)
    errors.push(invalid(`${at}.path`, path, 'must be an absolute path'))
  if (isExact) {
    for (const part of badPathParts)
      if (path.includes(part)) errors.push(invalid(`${at}.path`, path, `must not contain '${part}'`))
    for (const end of badPathEnds)
      if (path.endsWith(end)) errors.push(invalid(`${at}.path`, path, `cannot end with '${end}'`))
  }
  return [...errors, ...validateBackend(backend, `${at}.backend`)]
}

function validateBackend({ resource, service }: IngressBackend, path: string): FieldError[] {
  if (resource !== undefined && service !== undefined)
    return [invalid(path, '', 'cannot set both resource and service backends')]
  if (resource !== undefined) return validateReference(resource, `${path}.resource`)
  if (service !== undefined) return validateService(service, path)
  return [invalid(path, '', 'resource or service backend is required')]
}

function validateService({ name, port }: IngressServiceBackend, path: string): FieldError[] {
  const errors = name
    ? invalidAll(`${path}.service.name`, name, dns1035LabelErrors(name))
    : [required(`${path}.service.name`)]
  if (port.name && port.number) errors.push(invalid(path, '', 'cannot set both port name & port number'))
  else if (port.name) append(errors, invalidAll(`${path}.service.port.name`, port.name, portNameErrors(port.name)))
  else if (port.number) append(errors, invalidAll(`${path}.service.port.number`, port.number, portErrors(port.number)))
  else errors.push(required(path, 'port name or number is required'))
  return errors
}

/** A reference to an object in the same namespace, or to the parameters of a class. */
export function validateReference(
  { apiGroup, kind, name }: Pick<TypedLocalObjectReference, 'kind' | 'name'> & { readonly apiGroup?: string | null },
  path: string,
): FieldError[] {
  const errors =
    apiGroup === undefined || apiGroup === null
      ? []
      : invalidAll(`${path}.apiGroup`, apiGroup, dnsSubdomainErrors(apiGroup))
  for (const [field, value] of Object.entries({ kind, name }))
    append(
      errors,
      value ? invalidAll(`${path}.${field}`, value, pathSegmentErrors(value)) : [required(`${path}.${field}`)],
    )
  return errors
}

/** The addresses on which the controller listens: IP addresses and host names, in separate fields. */
export const validateIngressAddresses = (addresses: readonly IngressLoadBalancerIngress[]): FieldError[] =>
  addresses.flatMap(({ ip, hostname }, index) => {
    const path = `status.loadBalancer.ingress[${index}]`
    const errors = ip === undefined ? [] : invalidAll(`${path}.ip`, ip, ipErrors(ip))
    if (hostname === undefined) return errors
    append(errors, invalidAll(`${path}.hostname`, hostname, dnsSubdomainErrors(hostname)))
    if (isIpSloppy(hostname))
      errors.push(invalid(`${path}.hostname`, hostname, 'must be a DNS name, not an IP address'))
    return errors
  })

// Rules of a NetworkPolicy: ports, peers and IP blocks.
import { append } from '../../../base/collections/append.ts'
import { forbidden, invalid, notSupported, required, type FieldError } from '../../../schema/validation/field-error.ts'
import { validateLabelSelector } from '../../validation/label-selector-rules.ts'
import { cidrContains, prefixLengthOf } from '../../../base/net/cidr.ts'
import { parseCidrSloppy } from '../../../base/net/sloppy-address.ts'
import { portErrors, portNameErrors, cidrErrors } from '../../validation/network-rules.ts'
import type { IPBlock, NetworkPolicyPeer, NetworkPolicyPort, NetworkPolicySpec } from './network-policy-spec.ts'

const policyTypes = ['Ingress', 'Egress']

export function withPolicyTypes(spec: NetworkPolicySpec): NetworkPolicySpec {
  if (spec.policyTypes !== undefined && spec.policyTypes.length > 0) return spec
  const rulesEgress = spec.egress !== undefined && spec.egress.length > 0
  return { ...spec, policyTypes: rulesEgress ? policyTypes : ['Ingress'] }
}

/** CIDRs of the old spec are accepted as they are. */
export function validateNetworkPolicy(spec: NetworkPolicySpec, old?: NetworkPolicySpec): FieldError[] {
  const { podSelector, ingress = [], egress = [] } = spec
  const stored = old === undefined ? noCidrs : cidrsOf(old)
  const errors = validateLabelSelector(podSelector, 'spec.podSelector')
  for (const [index, { ports, from }] of ingress.entries())
    append(errors, validateRule(ports, from, [`spec.ingress[${index}]`, 'from'], stored))
  for (const [index, { ports, to }] of egress.entries())
    append(errors, validateRule(ports, to, [`spec.egress[${index}]`, 'to'], stored))
  return [...errors, ...validatePolicyTypes(spec)]
}

function validatePolicyTypes({ policyTypes: types = [] }: NetworkPolicySpec): FieldError[] {
  if (types.length > policyTypes.length)
    return [invalid('spec.policyTypes', types, 'may not specify more than two policyTypes')]
  return types.flatMap((type, index) =>
    policyTypes.includes(type) ? [] : [notSupported(`spec.policyTypes[${index}]`, type, policyTypes)],
  )
}

const validateRule = (
  ports: readonly NetworkPolicyPort[] = [],
  peers: readonly NetworkPolicyPeer[] = [],
  [path, peersName]: readonly [string, 'from' | 'to'],
  stored: ReadonlySet<string>,
): FieldError[] => [
  ...ports.flatMap((port, index) => validatePort(port, `${path}.ports[${index}]`)),
  ...peers.flatMap((peer, index) => validatePeer(peer, `${path}.${peersName}[${index}]`, stored)),
]

function validatePort({ port, endPort, protocol }: NetworkPolicyPort, path: string): FieldError[] {
  const errors: FieldError[] = []
  // Other invalid protocols are rejected by the enumeration of the field.
  if ((protocol as string) === '') errors.push(notSupported(`${path}.protocol`, protocol, ['TCP', 'UDP', 'SCTP']))
  if (port === undefined)
    return endPort === undefined
      ? errors
      : [...errors, invalid(`${path}.endPort`, endPort, 'may not be specified when `port` is not specified')]
  const details = typeof port === 'number' ? portErrors(port) : portNameErrors(port)
  append(
    errors,
    details.map((detail) => invalid(`${path}.port`, port, detail)),
  )
  return endPort === undefined ? errors : [...errors, ...validateEndPort(endPort, port, `${path}.endPort`)]
}

function validateEndPort(endPort: number, port: number | string, path: string): FieldError[] {
  if (typeof port === 'string') return [invalid(path, endPort, 'may not be specified when `port` is non-numeric')]
  const errors = portErrors(endPort).map((detail) => invalid(path, endPort, detail))
  // Upstream shows the first port here, not the last one.
  if (endPort < port) errors.unshift(invalid(path, port, 'must be greater than or equal to `port`'))
  return errors
}

function validatePeer(
  { podSelector, namespaceSelector, ipBlock }: NetworkPolicyPeer,
  path: string,
  stored: ReadonlySet<string>,
): FieldError[] {
  const errors: FieldError[] = []
  if (podSelector !== undefined) append(errors, validateLabelSelector(podSelector, `${path}.podSelector`))
  if (namespaceSelector !== undefined)
    append(errors, validateLabelSelector(namespaceSelector, `${path}.namespaceSelector`))
  if (ipBlock !== undefined) append(errors, validateBlock(ipBlock, `${path}.ipBlock`, stored))
  const selects = podSelector !== undefined || namespaceSelector !== undefined
  if (!selects && ipBlock === undefined) errors.push(required(path, 'must specify a peer'))
  if (selects && ipBlock !== undefined) errors.push(forbidden(path, 'may not specify both ipBlock and another peer'))
  return errors
}

function validateBlock({ cidr, except = [] }: IPBlock, path: string, stored: ReadonlySet<string>): FieldError[] {
  if (!cidr) return [required(`${path}.cidr`)]
  const errors = cidrErrors(cidr, stored).map((detail) => invalid(`${path}.cidr`, cidr, detail))
  const outer = parseCidrSloppy(cidr)
  if (outer === undefined) return errors
  for (const [index, text] of except.entries()) {
    const at = `${path}.except[${index}]`
    append(
      errors,
      cidrErrors(text, stored).map((detail) => invalid(at, text, detail)),
    )
    const inner = parseCidrSloppy(text)
    if (inner !== undefined && !(prefixLengthOf(inner) > prefixLengthOf(outer) && cidrContains(outer, inner)))
      errors.push(invalid(at, text, 'must be a strict subset of `cidr`'))
  }
  return errors
}

const noCidrs: ReadonlySet<string> = new Set()

/** The CIDRs of all blocks. */
function cidrsOf({ ingress = [], egress = [] }: NetworkPolicySpec): ReadonlySet<string> {
  const peers = [...ingress.flatMap(({ from = [] }) => from), ...egress.flatMap(({ to = [] }) => to)]
  return new Set(
    peers.flatMap(({ ipBlock }) => (ipBlock === undefined ? [] : [ipBlock.cidr, ...(ipBlock.except ?? [])])),
  )
}

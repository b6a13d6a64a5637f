// Node labels of Kubernetes' domains that a kubelet may set on its node.
import { lookup } from '../../../../base/collections/lookup.ts'
import { equalValues } from '../../../../schema/json/json-value.ts'

type Labels = Readonly<Record<string, string>>

/** No node may set labels of this domain, so administrators can rely on them. */
const restricted = 'node-restriction.kubernetes.io'

const kubeletLabels = new Set([
  'beta.kubernetes.io/arch',
  'beta.kubernetes.io/instance-type',
  'beta.kubernetes.io/os',
  'failure-domain.beta.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'kubernetes.io/arch',
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'node.kubernetes.io/instance-type',
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
])
const kubeletNamespaces = ['kubelet.kubernetes.io', 'node.kubernetes.io']

/** The forbidden change as part of upstream's message; undefined if the change is allowed. */
export function forbiddenLabels(now: Labels, before: Labels | undefined, isNew: boolean): string | undefined {
  const names = new Set([...Object.keys(now), ...Object.keys(before ?? {})])
  const changed = [...names].filter((name) => !equalValues(lookup(now, name), lookup(before, name))).toSorted()
  const forbidden = changed.filter(isForbidden)
  if (forbidden.length === 0) return undefined
  return `${isNew ? 'set the following labels' : 'modify labels'}: ${forbidden.join(', ')}`
}

function isForbidden(label: string): boolean {
  const [namespace = ''] = label.includes('/') ? label.split('/') : []
  if (isWithin(namespace, restricted)) return true
  if (!isWithin(namespace, 'kubernetes.io') && !isWithin(namespace, 'k8s.io')) return false
  return !kubeletLabels.has(label) && !kubeletNamespaces.some((each) => isWithin(namespace, each))
}

const isWithin = (namespace: string, domain: string): boolean =>
  namespace === domain || namespace.endsWith(`.${domain}`)

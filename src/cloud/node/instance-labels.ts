// The Node object of an initialized instance: provider id, labels of type, zone and region, no uninitialized taint.
import { lookup } from '../../base/collections/lookup.ts'
import type { Node, NodeAddress, Taint } from '../../api/core/v1/node/node.ts'
import type { CloudInstance } from '../provider/cloud-provider.ts'

export const uninitializedTaint = 'node.cloudprovider.kubernetes.io/uninitialized'

export const isUninitialized = ({ spec }: Node): boolean =>
  (spec.taints ?? []).some(({ key }) => key === uninitializedTaint)

/** Each stable label of a cloud and its older name. */
const labelPairs = [
  ['node.kubernetes.io/instance-type', 'beta.kubernetes.io/instance-type'],
  ['topology.kubernetes.io/zone', 'failure-domain.beta.kubernetes.io/zone'],
  ['topology.kubernetes.io/region', 'failure-domain.beta.kubernetes.io/region'],
] as const

export const initializedNode = (node: Node, instance: CloudInstance): Node => ({
  ...node,
  metadata: { ...node.metadata, labels: initializedLabels(node.metadata.labels ?? {}, instance) },
  spec: {
    ...node.spec,
    providerID:
      node.spec.providerID === undefined || node.spec.providerID === '' ? instance.providerId : node.spec.providerID,
    taints: (node.spec.taints ?? []).filter(({ key }: Taint) => key !== uninitializedTaint),
  },
})

function initializedLabels(
  labels: Readonly<Record<string, string>>,
  { type, zone, region, labels: further }: CloudInstance,
): Readonly<Record<string, string>> {
  const known = labelPairs.flatMap(([name, olderName], index) => {
    const value = [type, zone, region][index] ?? ''
    return value === '' ? [] : [[name, value] as const, [olderName, value] as const]
  })
  const added = Object.entries(further).filter(([name]) => !isOfKubernetes(name) && lookup(labels, name) === undefined)
  return Object.fromEntries([...added, ...Object.entries(labels), ...known])
}

/** Labels in the domains of Kubernetes are not the cloud's to set. */
const isOfKubernetes = (name: string): boolean => /(^|\.)(kubernetes|k8s)\.io\//.test(name)

/** Labels with older names that differ from the stable ones; undefined when none does. */
export function correctedLabels({ metadata: { labels } }: Node): Readonly<Record<string, string>> | undefined {
  const corrected = labelPairs.flatMap(([name, olderName]) => {
    const value = lookup(labels, name)
    return value === undefined || lookup(labels, olderName) === value ? [] : [[olderName, value] as const]
  })
  return corrected.length === 0 ? undefined : Object.fromEntries(corrected)
}

/**
 * The addresses of the instance, and the host name that the kubelet reported where the cloud has none. Undefined when the
 * cloud returns no addresses, so that the known ones are kept.
 */
export function instanceAddresses(node: Node, { addresses }: CloudInstance): readonly NodeAddress[] | undefined {
  if (addresses.length === 0) return undefined
  if (addresses.some(({ type }) => type === 'Hostname')) return addresses
  return [...addresses, ...(node.status.addresses ?? []).filter(({ type }) => type === 'Hostname')]
}

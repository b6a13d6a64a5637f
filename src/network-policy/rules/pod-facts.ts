// The properties of a pod on which policies depend.
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { keyOf, namespaceOf, type ObjectKey } from '../../api/meta/object.ts'
import { matchesLabels, type Labels } from '../../api/selectors/selectors.ts'
import { isUnicastAddress } from '../../base/net/address-kind.ts'
import type { IpAddress } from '../../base/net/ip-address.ts'
import { parsePort } from '../../base/net/port.ts'
import { parseIpsSloppy } from '../../base/net/sloppy-address.ts'
import type { PodSelection, Protocol } from './compiled-policy.ts'

export interface PodFacts {
  readonly key: ObjectKey
  readonly namespace: string
  readonly labels: Labels
  readonly addresses: readonly IpAddress[]
  /** The numbers of named ports, by `namedPortId`. */
  readonly ports: ReadonlyMap<string, readonly number[]>
  readonly nodeName: string
}

export const namedPortId = (protocol: Protocol, name: string): string => `${protocol} ${name}`

/**
 * Undefined for pods to which policies do not apply: those that use the network of their node, which upstream leaves to the
 * implementation, and those that have ended, whose addresses others may get.
 */
export function podFacts(pod: Pod): PodFacts | undefined {
  const { spec, status, metadata } = pod
  if (spec.hostNetwork === true || status.phase === 'Succeeded' || status.phase === 'Failed') return undefined
  return {
    key: keyOf(pod),
    namespace: namespaceOf(pod),
    labels: metadata.labels ?? {},
    addresses: podAddresses((status.podIPs ?? []).map(({ ip }) => ip)),
    ports: namedPorts(pod),
    nodeName: spec.nodeName ?? '',
  }
}

/** Texts that are no addresses of a machine are ignored. */
export const podAddresses = (texts: Iterable<string>): readonly IpAddress[] =>
  parseIpsSloppy(texts).filter(isUnicastAddress)

function namedPorts({ spec }: Pod): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, number[]>()
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always')
  for (const { ports = [] } of [...spec.containers, ...sidecars])
    for (const { name = '', protocol = 'TCP', containerPort } of ports) {
      if (name === '' || parsePort(containerPort) === undefined) continue
      const id = namedPortId(protocol, name)
      const numbers = found.get(id)
      if (numbers === undefined) found.set(id, [containerPort])
      else if (!numbers.includes(containerPort)) numbers.push(containerPort)
    }
  return found
}

/** `namespaceLabels` are those of the namespace of the pod. */
export const isSelected = (
  { namespaces, pods }: PodSelection,
  { namespace, labels }: Pick<PodFacts, 'namespace' | 'labels'>,
  namespaceLabels: Labels | undefined,
): boolean =>
  ('name' in namespaces
    ? namespaces.name === namespace
    : namespaceLabels !== undefined && matchesLabels(namespaces.selector, namespaceLabels)) &&
  matchesLabels(pods, labels)

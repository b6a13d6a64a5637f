// NetworkPlace: a participant of the simulated network as text: `pod/web-0`, `pod/<namespace>/web-0`, `node/node-0`,
// `service/web`, `service/<namespace>/web`, or `outside` for a client outside the cluster.
import { objectKey, type ObjectKey } from '../../api/meta/object.ts'
import type { NetworkHost } from '../../machine/network/link-faults.ts'

export type NetworkPlace =
  | { readonly kind: 'pod' | 'service'; readonly namespace: string; readonly name: string }
  | { readonly kind: 'node'; readonly name: string }
  | { readonly kind: 'outside' }

const namespaceDefault = 'default'

export function parsePlace(text: string): NetworkPlace {
  const [kind, ...names] = text.split('/')
  const [first = '', second] = names
  if (kind === 'outside' && names.length === 0) return { kind }
  if (kind === 'node' && names.length === 1 && first !== '') return { kind, name: first }
  if ((kind === 'pod' || kind === 'service') && names.length < 3 && first !== '' && second !== '')
    return second === undefined
      ? { kind, namespace: namespaceDefault, name: first }
      : { kind, namespace: first, name: second }
  throw new Error(
    `${JSON.stringify(text)} is not a place in the network; write pod/web-0, pod/<namespace>/web-0, node/node-0, ` +
      'service/web, service/<namespace>/web or outside',
  )
}

/** Whether the host is at the place: a node with all its pods, or an endpoint of a Service. */
export function isAt(
  place: NetworkPlace,
  { address, pod, node }: NetworkHost,
  isEndpoint: (service: ObjectKey, address: string) => boolean,
): boolean {
  switch (place.kind) {
    case 'pod':
      return pod === `${place.namespace}/${place.name}`
    case 'node':
      return node === place.name
    case 'service':
      return isEndpoint(objectKey(place.namespace, place.name), address)
    case 'outside':
      return node === ''
    default:
      return place satisfies never
  }
}

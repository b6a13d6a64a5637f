// The address of a node's kubelet, from the node's status.
import { StatusError } from '../../api/errors/status-error.ts'
import type { Node } from '../../api/core/v1/node/node.ts'

const addressTypes = ['InternalIP', 'ExternalIP', 'Hostname']
const kubeletPortDefault = 10_250

/** The preferred address of the node, and the port of its kubelet. */
export function kubeletAddress({ status }: Node): { readonly host: string; readonly port: number } {
  const addresses = status?.addresses ?? []
  const preferred = addressTypes.map((type) => addresses.find((address) => address.type === type)?.address)
  const host = preferred.find((address) => address !== undefined && address !== '')
  const known = addresses.map(({ type, address }) => `{${type} ${address}}`)
  if (host === undefined)
    throw new StatusError(500, '', `no preferred addresses found; known addresses: [${known.join(' ')}]`)
  return { host, port: status?.daemonEndpoints?.kubeletEndpoint?.Port || kubeletPortDefault }
}

// The host ports of a pod: ports of the node that lead to its containers.
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { familyOf, type AddressFamily } from '../../base/text/address-family.ts'

export interface HostPort {
  readonly family: AddressFamily
  readonly protocol: string
  /** Of the node; undefined: all of them. */
  readonly hostIp: string | undefined
  readonly hostPort: number
  readonly target: { readonly address: string; readonly port: number }
}

const isUnspecified = (address: string): boolean => address === '0.0.0.0' || address === '::'

/** None without an address, or after the pod has ended. */
export function hostPortsOf({ spec, status }: Pod): readonly HostPort[] {
  if (spec.hostNetwork === true || status.phase === 'Succeeded' || status.phase === 'Failed') return []
  const addresses = (status.podIPs ?? []).map(({ ip }) => ip)
  return [...(spec.initContainers ?? []), ...spec.containers].flatMap(({ ports = [] }) =>
    ports.flatMap(({ protocol, containerPort, hostPort = 0, hostIP = '' }) => {
      if (hostPort === 0) return []
      const only = hostIP === '' ? undefined : familyOf(hostIP)
      const hostIp = hostIP === '' || isUnspecified(hostIP) ? undefined : hostIP
      return addresses
        .map((address) => ({ address, family: familyOf(address) }))
        .filter(({ family }) => only === undefined || family === only)
        .map(({ address, family }) => ({
          ...{ family, hostIp, hostPort, protocol: protocol.toLowerCase() },
          target: { address, port: containerPort },
        }))
    }),
  )
}

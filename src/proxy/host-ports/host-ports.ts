// The host ports of a pod: ports of the node that lead to its containers. A port that is not valid is left out and reported.
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { isUnspecifiedAddress } from '../../base/net/address-kind.ts'
import { parseIp, parseIps, type IpAddress } from '../../base/net/ip-address.ts'
import { parsePort, type Port } from '../../base/net/port.ts'
import { familyOf, type AddressFamily } from '../../base/net/address-family.ts'
import { shownValue } from '../../base/text/shown-value.ts'

export type HostPortProtocol = 'sctp' | 'tcp' | 'udp'

export interface HostPort {
  readonly family: AddressFamily
  readonly protocol: HostPortProtocol
  /** Of the node; undefined: all of them. */
  readonly hostIp: IpAddress | undefined
  readonly hostPort: Port
  readonly target: { readonly address: IpAddress; readonly port: Port }
}

export interface PodHostPorts {
  readonly ports: readonly HostPort[]
  /** Why ports are left out. */
  readonly problems: readonly HostPortProblem[]
}

export interface HostPortProblem {
  readonly reason: 'HostPortConflict' | 'InvalidHostIP'
  readonly message: string
}

/** Further host ports of a pod are left out. The API limits neither containers nor their ports. */
const portsPerPodMax = 1_000

const protocols: readonly HostPortProtocol[] = ['sctp', 'tcp', 'udp']

/** None without an address, or after the pod has ended. */
export function hostPortsOf({ spec, status }: Pod): PodHostPorts {
  if (spec.hostNetwork === true || status.phase === 'Succeeded' || status.phase === 'Failed') return none
  const addresses = parseIps((status.podIPs ?? []).map(({ ip }) => ip))
  const ports: HostPort[] = []
  const problems: HostPortProblem[] = []
  const wanted = [...(spec.initContainers ?? []), ...spec.containers]
    .flatMap((container) => container.ports ?? [])
    .filter((each) => (each.hostPort ?? 0) !== 0)
  for (const { protocol, containerPort, hostPort = 0, hostIP = '' } of wanted.slice(0, portsPerPodMax)) {
    const own = hostIP === '' ? undefined : parseIp(hostIP)
    if (hostIP !== '' && own === undefined) {
      const message = `host port ${hostPort} is not mapped: the host IP ${shownValue(hostIP)} is not an IP address`
      problems.push({ reason: 'InvalidHostIP', message })
      continue
    }
    const known = protocols.find((each) => each === protocol.toLowerCase())
    const port = parsePort(hostPort)
    const target = parsePort(containerPort)
    // The API accepts neither other protocols nor other ports.
    if (known === undefined || port === undefined || target === undefined) continue
    const hostIp = own === undefined || isUnspecifiedAddress(own) ? undefined : own
    for (const address of addresses)
      if (own === undefined || familyOf(own) === familyOf(address))
        ports.push({
          family: familyOf(address),
          protocol: known,
          hostIp,
          hostPort: port,
          target: { address, port: target },
        })
  }
  return { ports, problems }
}

const none: PodHostPorts = { ports: [], problems: [] }

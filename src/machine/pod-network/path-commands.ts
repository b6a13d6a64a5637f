// The commands for iproute2 that set the paths to pods of other nodes.
import type { Cidr } from '../../base/net/cidr.ts'
import { commandText, type CommandText } from '../../base/net/command-text.ts'
import type { IpAddress } from '../../base/net/ip-address.ts'
import { tunnelDevice, type PodPaths, type PodRoute } from './pod-network.ts'

/** A command, and the ranges to which there is no path without it. */
export interface PathCommand {
  readonly command: CommandText
  readonly ranges: readonly Cidr[]
}

/** Marks our routes in the kernel's tables. */
export const routeProtocol = '117'

export const routeCommand = ({ range, via, kind }: PodRoute): PathCommand => ({
  command:
    kind === 'route'
      ? commandText`route replace ${range} via ${via} proto ${routeProtocol}`
      : commandText`route replace ${range} via ${via} dev ${tunnelDevice} onlink proto ${routeProtocol}`,
  ranges: [range],
})

/** For the program `bridge`. */
export function tunnelCommands({ routes, tunnels }: PodPaths): readonly PathCommand[] {
  const byHop = rangesByHop(routes)
  return tunnels.map(({ hardwareAddress, nodeAddress, nextHops }) => ({
    command: commandText`fdb replace ${hardwareAddress} dev ${tunnelDevice} dst ${nodeAddress} self permanent`,
    ranges: nextHops.flatMap((hop) => byHop.get(hop) ?? []),
  }))
}

export function neighbourCommands({ routes, tunnels }: PodPaths): readonly PathCommand[] {
  const byHop = rangesByHop(routes)
  return tunnels.flatMap(({ hardwareAddress, nextHops }) =>
    nextHops.map((hop) => ({
      command: commandText`neigh replace ${hop} lladdr ${hardwareAddress} dev ${tunnelDevice} nud permanent`,
      ranges: [byHop.get(hop) ?? []].flat(),
    })),
  )
}

/** The range behind each next hop of the tunnel. */
const rangesByHop = (routes: readonly PodRoute[]): ReadonlyMap<IpAddress, Cidr> =>
  new Map(routes.filter(({ kind }) => kind === 'vxlan').map(({ via, range }) => [via, range]))

// The network of this machine for a real node: conflicts of pod addresses, the lock on the bridge, and its removal.
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { familyOf } from '../../base/net/address-family.ts'
import { isLinkLocalAddress, isMulticastAddress } from '../../base/net/address-kind.ts'
import { type Cidr, cidrOf, cidrsOverlap, mustParseCidr, networkAddressOf, parseCidrs } from '../../base/net/cidr.ts'
import { mustParseInterfaceName } from '../../base/net/interface-name.ts'
import { addressOfBits } from '../../base/net/ip-address.ts'
import { tunnelDevice } from '../../machine/pod-network/pod-network.ts'
import type { Processes } from '../../platform/process/processes.ts'
import { isWildcard } from '../certificates/serving-hosts.ts'

export const bridge = mustParseInterfaceName('coxswain0')
const ownDevices: readonly string[] = [bridge, tunnelDevice]

export interface Network {
  readonly device: string
  readonly cidr: Cidr
}

/** Networks of this machine's interfaces and routes, without default routes. */
export function machineNetworks(): readonly Network[] {
  const own = Object.entries(networkInterfaces()).flatMap(([device, addresses = []]) =>
    parseCidrs(addresses.flatMap(({ cidr }) => cidr ?? [])).map((cidr) => ({ device, cidr })),
  )
  const routes = [...parseRoutes(textOf('/proc/net/route')), ...parseIpv6Routes(textOf('/proc/net/ipv6_route'))]
  return [...own, ...routes].filter(isOtherNetwork)
}

/** Not one of our own devices, and not link-local or multicast, which every interface has. */
export const isOtherNetwork = ({ device, cidr }: Network): boolean =>
  !ownDevices.includes(device) &&
  ![isLinkLocalAddress, isMulticastAddress].some((isKind) => isKind(networkAddressOf(cidr)))

const textOf = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '')

/** The networks of this machine's interfaces in both families, without our own devices. */
export const interfaceRanges = (): readonly Cidr[] =>
  parseCidrs(
    Object.entries(networkInterfaces())
      .filter(([device]) => !ownDevices.includes(device))
      .flatMap(([, addresses = []]) => addresses.flatMap(({ cidr }) => cidr ?? [])),
  )

/** The addresses at which other machines may reach this one: not loopback or link-local, and not those of our own devices. */
export const outsideAddresses = (interfaces = networkInterfaces()): readonly string[] =>
  Object.entries(interfaces)
    .filter(([device]) => !ownDevices.includes(device))
    .flatMap(([, addresses = []]) => addresses)
    .filter(
      ({ internal, cidr }) =>
        !internal && !parseCidrs([cidr ?? '']).some((each) => isLinkLocalAddress(networkAddressOf(each))),
    )
    .map(({ address }) => address)

/** The address of the node of a server that listens on `host`: with all addresses, the first at which others reach the machine. */
export function nodeAddressOf(host: string, outside = outsideAddresses()): string {
  if (!isWildcard(host)) return host
  const reachable = host === '::' ? outside : outside.filter((address) => !address.includes(':'))
  return reachable[0] ?? (host === '::' ? '::1' : '127.0.0.1')
}

/** Parses /proc/net/route: destination and mask are hexadecimal, last byte first. */
export const parseRoutes = (table: string): readonly Network[] =>
  table
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const [device = '', destination = '', , , , , , mask = ''] = line.trim().split(/\s+/)
      const prefixLength = Number.parseInt(mask, 16).toString(2).replaceAll('0', '').length
      if (mask === '' || prefixLength === 0) return []
      const address = BigInt(`0x${(destination.match(/../g) ?? []).toReversed().join('')}`)
      return [{ device, cidr: cidrOf(addressOfBits('IPv4', address), prefixLength) }]
    })

/** Parses /proc/net/ipv6_route: the destination and its prefix length are the first two columns, in hexadecimal. */
export const parseIpv6Routes = (table: string): readonly Network[] =>
  table.split('\n').flatMap((line) => {
    const columns = line.trim().split(/\s+/)
    const [destination = '', length = ''] = columns
    const prefixLength = Number.parseInt(length, 16)
    if (columns.length < 10 || prefixLength === 0) return []
    const address = addressOfBits('IPv6', BigInt(`0x${destination}`))
    return [{ device: columns.at(-1) ?? '', cidr: cidrOf(address, prefixLength) }]
  })

export interface ClusterRanges {
  readonly podRanges: readonly Cidr[]
  readonly serviceRanges: readonly Cidr[]
}

/** Private ranges that are proposed instead of one that is in use. */
const proposals = ['172.20.0.0/16', '172.24.0.0/16', '192.168.192.0/18', '100.80.0.0/12'].map(mustParseCidr)

/**
 * Why pods and Services cannot have these addresses on a machine with these networks. Packets to addresses of Services
 * that do not exist are dropped, and those to pods stay on the bridge: the machine would lose the network, and the
 * connections through it.
 */
export function rangeConflict(
  { podRanges, serviceRanges }: ClusterRanges,
  networks: readonly Network[],
): string | undefined {
  const taken = [...networks.map(({ cidr }) => cidr), ...podRanges, ...serviceRanges]
  for (const [what, flag, ranges] of [
    ['pods', '--cluster-cidr', podRanges],
    ['Services', '--service-cluster-ip-range', serviceRanges],
  ] as const)
    for (const range of ranges) {
      const found = networks.find(({ cidr }) => cidrsOverlap(cidr, range))
      if (found === undefined) continue
      const free = proposals.find((proposal) => !taken.some((each) => cidrsOverlap(each, proposal)))
      const example = familyOf(range) === 'IPv6' || free === undefined ? '' : ` ${free}`
      return `the addresses of ${what}, ${range}, overlap those of ${found.device} (${found.cidr}); start the cluster with others: ${flag}${example}`
    }
  return undefined
}

/**
 * An abstract socket name: only one process per network namespace can have the bridge, and the kernel releases the name
 * when the process ends.
 */
const machineLock = '\0coxswain-node'

export async function lockMachine(): Promise<AsyncDisposable> {
  const held = createServer()
  await new Promise<void>((resolve, reject) => {
    held.once('error', () => reject(new Error('another coxswain runs containers on this machine')))
    held.listen(machineLock, resolve)
  })
  held.unref()
  return { [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void held.close(() => resolve())) }
}

/** No effect without a bridge. A bridge with interfaces is kept. */
export async function removeBridge(processes: Pick<Processes, 'run'>, signal: AbortSignal): Promise<void> {
  const { code, stdout } = await processes.run('ip', ['-o', 'link', 'show', 'master', bridge], {}, signal)
  if (code === 0 && stdout.trim() === '') await processes.run('ip', ['link', 'delete', bridge], {}, signal)
}

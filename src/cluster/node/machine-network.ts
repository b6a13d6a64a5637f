// The network of this machine for a real node: conflicts of pod addresses, the lock on the bridge, and its removal.
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { addressText, overlaps, parseCidr } from '../../api/networking/v1/cidr.ts'
import { parseCidrs, type Cidr } from '../../base/net/cidr.ts'
import { mustParseInterfaceName } from '../../base/net/interface-name.ts'
import { tunnelDevice } from '../../machine/pod-network/pod-network.ts'
import type { Processes } from '../../platform/process/processes.ts'

export const bridge = mustParseInterfaceName('coxswain0')
const ownDevices: readonly string[] = [bridge, tunnelDevice]

export interface Network {
  readonly device: string
  readonly cidr: string
}

/** Networks of this machine's interfaces and routes, without the default route and our own devices. */
export function machineNetworks(): readonly Network[] {
  const own = Object.entries(networkInterfaces()).flatMap(([device, addresses = []]) =>
    addresses.flatMap(({ cidr, family }) => (cidr === null || family !== 'IPv4' ? [] : [{ device, cidr }])),
  )
  const table = existsSync('/proc/net/route') ? readFileSync('/proc/net/route', 'utf8') : ''
  return [...own, ...parseRoutes(table)].filter(({ device }) => !ownDevices.includes(device))
}

/** The networks of this machine's interfaces in both families, without our own devices. */
export const interfaceRanges = (): readonly Cidr[] =>
  parseCidrs(
    Object.entries(networkInterfaces())
      .filter(([device]) => !ownDevices.includes(device))
      .flatMap(([, addresses = []]) => addresses.flatMap(({ cidr }) => cidr ?? [])),
  )

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
      return [{ device, cidr: `${addressText('IPv4', address)}/${prefixLength}` }]
    })

/** Pod addresses in another network would make that network unreachable for this machine. */
export function podRangeConflict(podCidr: string, networks: readonly Network[]): string | undefined {
  const found = networks.find(({ cidr }) => overlaps(parseCidr(cidr), parseCidr(podCidr)))
  if (found === undefined) return undefined
  const { device, cidr } = found
  return `the addresses of pods, ${podCidr}, are those of ${device} (${cidr}); choose others with --cluster-cidr`
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

// NodePodNetwork: the pod network of this machine through iproute2 and nftables.
import { familyOf, type AddressFamily } from '../../base/text/address-family.ts'
import type { Processes } from '../../platform/process/processes.ts'
import type { KernelSettings } from '../kernel-settings/kernel-settings.ts'
import { forwardFirewall } from './forward-firewall.ts'
import { outboundRules } from './outbound-rules.ts'
import { nodeTable, tunnelDevice, type PodNetwork, type PodNetworkOptions, type PodPaths } from './pod-network.ts'

/** Marks our routes in the kernel's tables. */
const routeProtocol = '117'
const serviceRouteProtocol = '118'
/** The identifier of our VXLAN network, and the port of RFC 7348. */
const tunnelId = '10244'
const tunnelPort = '4789'

export interface NodePodNetworkDeps {
  readonly processes: Pick<Processes, 'run'>
  readonly kernelSettings: KernelSettings
}

export class NodePodNetwork implements PodNetwork {
  readonly #options: PodNetworkOptions
  readonly #processes: Pick<Processes, 'run'>
  readonly #kernelSettings: KernelSettings

  constructor(options: PodNetworkOptions, { processes, kernelSettings }: NodePodNetworkDeps) {
    this.#options = options
    this.#processes = processes
    this.#kernelSettings = kernelSettings
  }

  async prepare(signal: AbortSignal): Promise<void> {
    const { bridge, ranges, hardwareAddress } = this.#options
    if (!(await this.#exists(bridge, signal))) await this.#ip(['link', 'add', bridge, 'type', 'bridge'], signal)
    // A fixed hardware address: otherwise it changes with the first pods, and neighbours have to learn it again.
    const lines = [
      `link set ${bridge} address ${hardwareAddress.replace(/^02:58/, '02:59')}`,
      `link set ${bridge} up`,
      ...ranges.map(({ range, gateway }) => `addr replace ${gateway}/${range.split('/')[1]} dev ${bridge}`),
    ]
    await this.#batch('ip', lines, signal)
    const has = (family: AddressFamily) => ranges.some(({ range }) => familyOf(range) === family)
    if (has('IPv4')) await this.#kernelSettings.set('net/ipv4/ip_forward', '1')
    if (has('IPv6')) await this.#kernelSettings.set('net/ipv6/conf/all/forwarding', '1')
    await this.#setOutbound([], signal)
    await this.#routeServices(signal)
  }

  /**
   * Packets of this machine to a Service are translated after the routing decision, so they need some route. A machine
   * without a default route has none.
   */
  async #routeServices(signal: AbortSignal): Promise<void> {
    const { bridge, ranges, serviceRanges } = this.#options
    for (const range of serviceRanges) {
      if (!ranges.some((own) => familyOf(own.range) === familyOf(range))) continue
      const [address = ''] = range.split('/')
      if ((await this.#run('ip', ['route', 'get', address], signal)).code === 0) continue
      await this.#ip(['route', 'replace', range, 'dev', bridge, 'proto', serviceRouteProtocol], signal)
    }
  }

  async adjacent(addresses: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>> {
    if (addresses.length === 0) return new Set()
    const lines = addresses.map((address) => `route get ${address}\n`).join('')
    // An address without a route is reported on stderr and skipped.
    const { stdout } = await this.#run('ip', ['-j', '-force', '-batch', '-'], signal, lines)
    return adjacentRoutes(stdout)
  }

  async setPaths({ routes, tunnels }: PodPaths, signal: AbortSignal): Promise<void> {
    const hasDevice = await this.#provideTunnelDevice({ routes, tunnels }, signal)
    const wanted = new Set(routes.map(({ range }) => range))
    const neighbours = new Set(tunnels.flatMap(({ nextHops }) => nextHops))
    const hardware = new Set(tunnels.map(({ hardwareAddress }) => hardwareAddress))
    const [oldRoutes, oldNeighbours, oldTunnels] = await Promise.all([
      this.#ownRoutes(signal),
      hasDevice
        ? this.#list<{ dst: string }>('ip', ['-j', 'neigh', 'show', 'dev', tunnelDevice, 'nud', 'permanent'], signal)
        : [],
      hasDevice
        ? this.#list<{ mac: string; dst?: string }>('bridge', ['-j', 'fdb', 'show', 'dev', tunnelDevice], signal)
        : [],
    ])
    // Neighbours and tunnels come before the routes that lead to them, and are removed after those.
    const forwarding = tunnels.map(
      ({ hardwareAddress, nodeAddress }) =>
        `fdb replace ${hardwareAddress} dev ${tunnelDevice} dst ${nodeAddress} self permanent`,
    )
    await this.#batch('bridge', forwarding, signal)
    await this.#batch(
      'ip',
      [
        ...tunnels.flatMap(({ hardwareAddress, nextHops }) =>
          nextHops.map((hop) => `neigh replace ${hop} lladdr ${hardwareAddress} dev ${tunnelDevice} nud permanent`),
        ),
        ...routes.map(({ range, via, kind }) =>
          kind === 'route'
            ? `route replace ${range} via ${via} proto ${routeProtocol}`
            : `route replace ${range} via ${via} dev ${tunnelDevice} onlink proto ${routeProtocol}`,
        ),
        ...oldRoutes.filter((range) => !wanted.has(range)).map((range) => `route del ${range} proto ${routeProtocol}`),
        ...oldNeighbours
          .filter(({ dst }) => !neighbours.has(dst))
          .map(({ dst }) => `neigh del ${dst} dev ${tunnelDevice}`),
      ],
      signal,
    )
    const unused = oldTunnels.filter(({ mac, dst }) => dst !== undefined && !hardware.has(mac))
    await this.#batch(
      'bridge',
      unused.map(({ mac, dst }) => `fdb del ${mac} dev ${tunnelDevice} dst ${dst} self`),
      signal,
    )
    await this.#setOutbound(
      routes.map(({ range }) => range),
      signal,
    )
  }

  async forwardingBlockedBy(signal: AbortSignal): Promise<string | undefined> {
    const { code, stdout } = await this.#run('nft', ['-j', 'list', 'chains'], signal)
    return code === 0 ? forwardFirewall(stdout) : undefined
  }

  /**
   * Returns whether the device exists. It is created for a node that is reached by a route as well: that node may
   * consider this one not adjacent, and then its packets arrive through VXLAN. Without VXLAN in the kernel, only paths
   * that need it fail.
   */
  async #provideTunnelDevice({ routes, tunnels }: PodPaths, signal: AbortSignal): Promise<boolean> {
    if (routes.length === 0) return this.#exists(tunnelDevice, signal)
    try {
      await this.#ensureTunnelDevice(signal)
      return true
    } catch (error) {
      if (tunnels.length > 0 || signal.aborted) throw error
      return this.#exists(tunnelDevice, signal)
    }
  }

  async #ensureTunnelDevice(signal: AbortSignal): Promise<void> {
    const { nodeAddress, ranges, hardwareAddress } = this.#options
    const lines = [
      ...((await this.#exists(tunnelDevice, signal))
        ? []
        : [`link add ${tunnelDevice} type vxlan id ${tunnelId} dstport ${tunnelPort} local ${nodeAddress} nolearning`]),
      `link set ${tunnelDevice} address ${hardwareAddress}`,
      `link set ${tunnelDevice} up`,
      // Packets of this machine itself have an address of its range as source, so that replies take the tunnel, too.
      ...ranges.map(
        ({ tunnelAddress }) =>
          `addr replace ${tunnelAddress}/${familyOf(tunnelAddress) === 'IPv4' ? 32 : 128} dev ${tunnelDevice}`,
      ),
    ]
    await this.#batch('ip', lines, signal)
    // Loose: packets may arrive here although the route to their source leads elsewhere.
    await this.#kernelSettings.set(`net/ipv4/conf/${tunnelDevice}/rp_filter`, '2')
  }

  async #ownRoutes(signal: AbortSignal): Promise<readonly string[]> {
    const families = await Promise.all(
      ['-4', '-6'].map((family) =>
        this.#list<{ dst: string }>('ip', [family, '-j', 'route', 'show', 'proto', routeProtocol], signal),
      ),
    )
    return families.flat().map(({ dst }) => (dst.includes('/') ? dst : `${dst}/${dst.includes(':') ? 128 : 32}`))
  }

  async #exists(device: string, signal: AbortSignal): Promise<boolean> {
    return (await this.#run('ip', ['link', 'show', device], signal)).code === 0
  }

  async #list<T>(command: string, args: readonly string[], signal: AbortSignal): Promise<readonly T[]> {
    const { code, stdout, stderr } = await this.#run(command, args, signal)
    if (code !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr.trim()}`)
    return stdout.trim() === '' ? [] : (JSON.parse(stdout) as T[])
  }

  async #ip(args: readonly string[], signal: AbortSignal): Promise<void> {
    const { code, stderr } = await this.#run('ip', args, signal)
    if (code !== 0) throw new Error(`ip ${args.join(' ')}: ${stderr.trim()}`)
  }

  async #batch(command: 'bridge' | 'ip', lines: readonly string[], signal: AbortSignal): Promise<void> {
    if (lines.length === 0) return
    const { code, stderr } = await this.#run(command, ['-batch', '-'], signal, `${lines.join('\n')}\n`)
    if (code !== 0) throw new Error(`${command} -batch: ${stderr.trim()}`)
  }

  /** `others` are the pod ranges of other nodes. */
  async #setOutbound(others: readonly string[], signal: AbortSignal): Promise<void> {
    const own = this.#options.ranges.map(({ range }) => range)
    const { code, stderr } = await this.#run('nft', ['-f', '-'], signal, outboundRules(own, others))
    if (code !== 0) throw new Error(`nft: ${stderr.trim()}`)
  }

  #run(command: string, args: readonly string[], signal: AbortSignal, input?: string) {
    return this.#processes.run(command, args, input === undefined ? {} : { input }, signal)
  }
}

interface FoundRoute {
  readonly dst: string
  readonly type?: string
  readonly gateway?: string
  readonly via?: unknown
}

/** The destinations that need no router, from the output of `ip -j route get`: one list per line. */
export const adjacentRoutes = (text: string): ReadonlySet<string> =>
  new Set(
    text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .flatMap((line) => JSON.parse(line) as FoundRoute[])
      .filter(({ type, gateway, via }) => type !== 'local' && gateway === undefined && via === undefined)
      .map(({ dst }) => dst),
  )

/** Removes what `prepare` and `setPaths` have created, except for the bridge. No effect if there is nothing. */
export async function removePodNetwork(processes: Pick<Processes, 'run'>, signal: AbortSignal): Promise<void> {
  for (const family of ['-4', '-6'])
    for (const protocol of [routeProtocol, serviceRouteProtocol])
      await processes.run('ip', [family, 'route', 'flush', 'proto', protocol], {}, signal)
  await processes.run('ip', ['link', 'delete', tunnelDevice], {}, signal)
  await processes.run(
    'nft',
    ['-f', '-'],
    { input: `table inet ${nodeTable}\ndelete table inet ${nodeTable}\n` },
    signal,
  )
}

// NodePodNetwork: the pod network of this machine through iproute2 and nftables.
import { cidrOfAddress, networkAddressOf, parseCidr, prefixLengthOf, type Cidr } from '../../base/net/cidr.ts'
import { commandText } from '../../base/net/command-text.ts'
import type { InterfaceName } from '../../base/net/interface-name.ts'
import { parseIp, parseIps, type IpAddress } from '../../base/net/ip-address.ts'
import { parseMac, type MacAddress } from '../../base/net/mac-address.ts'
import { errorText } from '../../base/observability/log.ts'
import { familyOf, type AddressFamily } from '../../base/net/address-family.ts'
import type { Processes } from '../../platform/process/processes.ts'
import type { KernelSettings } from '../kernel-settings/kernel-settings.ts'
import { requireIpBatch, runIpBatch } from '../iproute/ip-batch.ts'
import { runNftScript } from '../nftables/nft-script.ts'
import { forwardFirewall } from './forward-firewall.ts'
import { outboundRules, removedNodeTable } from './outbound-rules.ts'
import { neighbourCommands, routeCommand, routeProtocol, tunnelCommands, type PathCommand } from './path-commands.ts'
import { tunnelDevice, type PodNetwork, type PodNetworkOptions, type PodPaths } from './pod-network.ts'

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
    const bridgeAddress = bridgeHardwareAddress(hardwareAddress)
    const commands = [
      ...(bridgeAddress === undefined ? [] : [commandText`link set ${bridge} address ${bridgeAddress}`]),
      commandText`link set ${bridge} up`,
      ...ranges.map(
        ({ range, gateway }) => commandText`addr replace ${gateway}/${prefixLengthOf(range)} dev ${bridge}`,
      ),
    ]
    await requireIpBatch('ip', commands, { processes: this.#processes }, signal)
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
      if ((await this.#run('ip', ['route', 'get', networkAddressOf(range)], signal)).code === 0) continue
      await this.#ip(['route', 'replace', range, 'dev', bridge, 'proto', serviceRouteProtocol], signal)
    }
  }

  async adjacent(addresses: readonly IpAddress[], signal: AbortSignal): Promise<ReadonlySet<IpAddress>> {
    const commands = addresses.map((address) => commandText`route get ${address}`)
    // An address without a route is a failure of its command.
    const { stdout } = await runIpBatch('ip', commands, { processes: this.#processes, options: ['-j'] }, signal)
    return adjacentRoutes(stdout)
  }

  async setPaths(paths: PodPaths, signal: AbortSignal): Promise<ReadonlyMap<Cidr, string>> {
    const { routes, tunnels } = paths
    const failed = new Map<Cidr, string>()
    const hasDevice = await this.#provideTunnelDevice(paths, failed, signal)
    const oldRoutes = await this.#ownRoutes(signal)
    const oldNeighbours = hasDevice ? await this.#ownNeighbours(signal) : []
    // Neighbours and tunnels come before the routes that lead to them, and are removed after those.
    await this.#apply('bridge', hasDevice ? tunnelCommands(paths) : [], failed, signal)
    await this.#apply('ip', hasDevice ? neighbourCommands(paths) : [], failed, signal)
    const reachable = routes.filter(({ range }) => !failed.has(range))
    await this.#apply('ip', reachable.map(routeCommand), failed, signal)
    const ranges = new Set(reachable.map(({ range }) => range))
    const nextHops = new Set(tunnels.flatMap((tunnel) => tunnel.nextHops))
    const unused = [
      ...oldRoutes
        .filter((range) => !ranges.has(range))
        .map((range) => commandText`route del ${range} proto ${routeProtocol}`),
      ...oldNeighbours
        .filter((address) => !nextHops.has(address))
        .map((address) => commandText`neigh del ${address} dev ${tunnelDevice}`),
    ]
    await requireIpBatch('ip', unused, { processes: this.#processes }, signal)
    if (hasDevice) await this.#removeTunnels(tunnels, signal)
    await this.#setOutbound(
      reachable.map(({ range }) => range),
      signal,
    )
    return failed
  }

  /** A command that fails costs the ranges that need it. */
  async #apply(
    program: 'bridge' | 'ip',
    commands: readonly PathCommand[],
    failed: Map<Cidr, string>,
    signal: AbortSignal,
  ): Promise<void> {
    const texts = commands.map(({ command }) => command)
    const { failures } = await runIpBatch(program, texts, { processes: this.#processes }, signal)
    for (const [index, message] of failures)
      for (const range of commands[index]?.ranges ?? []) failed.set(range, `${program}: ${message}`)
  }

  async #removeTunnels(tunnels: PodPaths['tunnels'], signal: AbortSignal): Promise<void> {
    const args = ['-j', 'fdb', 'show', 'dev', tunnelDevice]
    const found = await this.#list<{ mac: string; dst?: string }>('bridge', args, signal)
    const wanted = new Set(tunnels.map(({ hardwareAddress }) => hardwareAddress))
    const commands = found.flatMap(({ mac, dst = '' }) => {
      const hardwareAddress = parseMac(mac)
      const address = parseIp(dst)
      if (hardwareAddress === undefined || address === undefined || wanted.has(hardwareAddress)) return []
      return [commandText`fdb del ${hardwareAddress} dev ${tunnelDevice} dst ${address} self`]
    })
    await requireIpBatch('bridge', commands, { processes: this.#processes }, signal)
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
  async #provideTunnelDevice({ routes }: PodPaths, failed: Map<Cidr, string>, signal: AbortSignal): Promise<boolean> {
    if (routes.length === 0) return this.#exists(tunnelDevice, signal)
    try {
      await this.#ensureTunnelDevice(signal)
      return true
    } catch (error) {
      signal.throwIfAborted()
      for (const { range, kind } of routes) if (kind === 'vxlan') failed.set(range, errorText(error))
      return this.#exists(tunnelDevice, signal)
    }
  }

  async #ensureTunnelDevice(signal: AbortSignal): Promise<void> {
    const { nodeAddress, ranges, hardwareAddress } = this.#options
    const commands = [
      ...((await this.#exists(tunnelDevice, signal))
        ? []
        : [
            commandText`link add ${tunnelDevice} type vxlan id ${tunnelId} dstport ${tunnelPort} local ${nodeAddress} nolearning`,
          ]),
      commandText`link set ${tunnelDevice} address ${hardwareAddress}`,
      commandText`link set ${tunnelDevice} up`,
      // Packets of this machine itself have an address of its range as source, so that replies take the tunnel, too.
      ...ranges.map(
        ({ tunnelAddress }) => commandText`addr replace ${cidrOfAddress(tunnelAddress)} dev ${tunnelDevice}`,
      ),
    ]
    await requireIpBatch('ip', commands, { processes: this.#processes }, signal)
    // Loose: packets may arrive here although the route to their source leads elsewhere.
    await this.#kernelSettings.set(`net/ipv4/conf/${tunnelDevice}/rp_filter`, '2')
  }

  async #ownRoutes(signal: AbortSignal): Promise<readonly Cidr[]> {
    const families = await Promise.all(
      ['-4', '-6'].map((family) =>
        this.#list<{ dst: string }>('ip', [family, '-j', 'route', 'show', 'proto', routeProtocol], signal),
      ),
    )
    return families.flat().flatMap(({ dst }) => {
      const address = parseIp(dst)
      return (address === undefined ? parseCidr(dst) : cidrOfAddress(address)) ?? []
    })
  }

  async #ownNeighbours(signal: AbortSignal): Promise<readonly IpAddress[]> {
    const args = ['-j', 'neigh', 'show', 'dev', tunnelDevice, 'nud', 'permanent']
    return parseIps((await this.#list<{ dst: string }>('ip', args, signal)).map(({ dst }) => dst))
  }

  async #exists(device: InterfaceName, signal: AbortSignal): Promise<boolean> {
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

  /** `others` are the pod ranges of other nodes. */
  async #setOutbound(others: readonly Cidr[], signal: AbortSignal): Promise<void> {
    const own = this.#options.ranges.map(({ range }) => range)
    await runNftScript(outboundRules(own, others), this.#processes, signal)
  }

  #run(command: string, args: readonly string[], signal: AbortSignal) {
    return this.#processes.run(command, args, {}, signal)
  }
}

/** That of the VXLAN device with another second octet. */
const bridgeHardwareAddress = (hardwareAddress: MacAddress): MacAddress | undefined =>
  parseMac(hardwareAddress.replace(/^02:58/, '02:59'))

interface FoundRoute {
  readonly dst: string
  readonly type?: string
  readonly gateway?: string
  readonly via?: unknown
}

/** The destinations that need no router, from the output of `ip -j route get`: one list per line. */
export const adjacentRoutes = (text: string): ReadonlySet<IpAddress> =>
  new Set(
    parseIps(
      text
        .split('\n')
        .filter((line) => line.trim() !== '')
        .flatMap((line) => JSON.parse(line) as FoundRoute[])
        // Routes of a type are those of broadcast, multicast and local addresses, which are not the address of another node.
        .filter(({ type, gateway, via }) => type === undefined && gateway === undefined && via === undefined)
        .map(({ dst }) => dst),
    ),
  )

/** Removes what `prepare` and `setPaths` have created, except for the bridge. No effect if there is nothing. */
export async function removePodNetwork(processes: Pick<Processes, 'run'>, signal: AbortSignal): Promise<void> {
  for (const family of ['-4', '-6'])
    for (const protocol of [routeProtocol, serviceRouteProtocol])
      await processes.run('ip', [family, 'route', 'flush', 'proto', protocol], {}, signal)
  await processes.run('ip', ['link', 'delete', tunnelDevice], {}, signal)
  await runNftScript(removedNodeTable, processes, signal)
}

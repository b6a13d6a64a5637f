// NodeAnnouncedAddresses: announced addresses of this machine through iproute2. The kernel sends gratuitous ARP and
// unsolicited neighbour advertisements when the hardware address of an interface is set, even to the one that it has.
import { parseInterfaceName, type InterfaceName } from '../../base/net/interface-name.ts'
import type { IpAddress } from '../../base/net/ip-address.ts'
import { parseMac } from '../../base/net/mac-address.ts'
import type { Processes } from '../../platform/process/processes.ts'
import type { KernelSettings } from '../kernel-settings/kernel-settings.ts'
import { requireIpBatch } from '../iproute/ip-batch.ts'
import { addressChanges, type LinkAddresses } from './address-changes.ts'
import type { AnnouncedAddresses } from './announced-addresses.ts'

export interface NodeAnnouncedAddressesDeps {
  readonly processes: Pick<Processes, 'run'>
  readonly kernelSettings: KernelSettings
}

/** How often neighbours are notified of an address, once with each call of `set`: a packet may be lost. */
const notificationsPerAddress = 3

export class NodeAnnouncedAddresses implements AnnouncedAddresses {
  readonly #processes: Pick<Processes, 'run'>
  readonly #kernelSettings: KernelSettings
  /** The addresses that were set, with the number of notifications to send. */
  readonly #held = new Map<IpAddress, number>()

  constructor({ processes, kernelSettings }: NodeAnnouncedAddressesDeps) {
    this.#processes = processes
    this.#kernelSettings = kernelSettings
  }

  async set(addresses: readonly IpAddress[], signal: AbortSignal): Promise<ReadonlyMap<IpAddress, string>> {
    if (addresses.length === 0 && this.#held.size === 0) return new Map()
    const links = JSON.parse(await this.#ip(['-j', 'addr', 'show'], signal)) as LinkAddresses[]
    const known = new Set<string>(links.flatMap(({ addr_info = [] }) => addr_info.map(({ local = '' }) => local)))
    const missing = addresses.filter((address) => !known.has(address))
    const routes = new Map<IpAddress, InterfaceName>()
    for (const address of missing) {
      const device = await this.#deviceTowards(address, signal)
      if (device !== undefined) routes.set(address, device)
    }
    const changes = addressChanges(addresses, new Set(this.#held.keys()), links, routes)
    for (const address of changes.devices.keys())
      if (!this.#held.has(address)) this.#held.set(address, notificationsPerAddress)
    // An address that expires meanwhile cannot be deleted; the others are set nevertheless.
    await requireIpBatch('ip', changes.lines, { processes: this.#processes }, signal)
    for (const address of this.#held.keys()) if (!changes.devices.has(address)) this.#held.delete(address)
    await this.#notify(changes.devices, links, signal)
    return changes.problems
  }

  async #notify(
    devices: ReadonlyMap<IpAddress, InterfaceName>,
    links: readonly LinkAddresses[],
    signal: AbortSignal,
  ): Promise<void> {
    const due = [...devices].filter(([address]) => (this.#held.get(address) ?? 0) > 0)
    for (const [address] of due) this.#held.set(address, (this.#held.get(address) ?? 0) - 1)
    for (const device of new Set(due.map(([, name]) => name))) {
      const hardwareAddress = parseMac(links.find(({ ifname }) => ifname === device)?.address ?? '')
      if (hardwareAddress === undefined) continue
      await this.#kernelSettings.set(`net/ipv4/conf/${device}/arp_notify`, '1')
      await this.#kernelSettings.set(`net/ipv6/conf/${device}/ndisc_notify`, '1')
      await this.#ip(['link', 'set', 'dev', device, 'address', hardwareAddress], signal)
    }
  }

  async #deviceTowards(address: IpAddress, signal: AbortSignal): Promise<InterfaceName | undefined> {
    const { code, stdout } = await this.#run(['-j', 'route', 'get', address], signal)
    const [route] = code === 0 ? (JSON.parse(stdout) as readonly { readonly dev?: string }[]) : []
    return parseInterfaceName(route?.dev ?? '')
  }

  async #ip(args: readonly string[], signal: AbortSignal): Promise<string> {
    const { code, stdout, stderr } = await this.#run(args, signal)
    if (code !== 0) throw new Error(`ip ${args.join(' ')}: ${stderr.trim()}`)
    return stdout
  }

  #run(args: readonly string[], signal: AbortSignal) {
    return this.#processes.run('ip', args, {}, signal)
  }
}

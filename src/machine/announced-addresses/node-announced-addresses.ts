// NodeAnnouncedAddresses: announced addresses of this machine through iproute2. The kernel sends gratuitous ARP and
// unsolicited neighbour advertisements when the hardware address of an interface is set, even to the one that it has.
import type { Processes } from '../../platform/process/processes.ts'
import type { KernelSettings } from '../kernel-settings/kernel-settings.ts'
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
  readonly #held = new Map<string, number>()

  constructor({ processes, kernelSettings }: NodeAnnouncedAddressesDeps) {
    this.#processes = processes
    this.#kernelSettings = kernelSettings
  }

  async set(addresses: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
    if (addresses.length === 0 && this.#held.size === 0) return new Map()
    const links = JSON.parse(await this.#ip(['-j', 'addr', 'show'], signal)) as LinkAddresses[]
    const known = new Set(links.flatMap(({ addr_info = [] }) => addr_info.map(({ local = '' }) => local)))
    const missing = addresses.filter((address) => !known.has(address))
    const routes = new Map<string, string>()
    for (const address of missing) {
      const device = await this.#deviceTowards(address, signal)
      if (device !== undefined) routes.set(address, device)
    }
    const changes = addressChanges(addresses, new Set(this.#held.keys()), links, routes)
    for (const address of changes.devices.keys())
      if (!this.#held.has(address)) this.#held.set(address, notificationsPerAddress)
    // An address that expires meanwhile cannot be deleted; the others are set nevertheless.
    if (changes.lines.length > 0) await this.#ip(['-force', '-batch', '-'], signal, `${changes.lines.join('\n')}\n`)
    for (const address of this.#held.keys()) if (!changes.devices.has(address)) this.#held.delete(address)
    await this.#notify(changes.devices, links, signal)
    return changes.problems
  }

  async #notify(
    devices: ReadonlyMap<string, string>,
    links: readonly LinkAddresses[],
    signal: AbortSignal,
  ): Promise<void> {
    const due = [...devices].filter(([address]) => (this.#held.get(address) ?? 0) > 0)
    for (const [address] of due) this.#held.set(address, (this.#held.get(address) ?? 0) - 1)
    for (const device of new Set(due.map(([, name]) => name))) {
      const hardwareAddress = links.find(({ ifname }) => ifname === device)?.address
      if (hardwareAddress === undefined) continue
      await this.#kernelSettings.set(`net/ipv4/conf/${device}/arp_notify`, '1')
      await this.#kernelSettings.set(`net/ipv6/conf/${device}/ndisc_notify`, '1')
      await this.#ip(['link', 'set', 'dev', device, 'address', hardwareAddress], signal)
    }
  }

  async #deviceTowards(address: string, signal: AbortSignal): Promise<string | undefined> {
    const { code, stdout } = await this.#run(['-j', 'route', 'get', address], signal)
    return code === 0 ? (JSON.parse(stdout) as readonly { readonly dev?: string }[])[0]?.dev : undefined
  }

  async #ip(args: readonly string[], signal: AbortSignal, input?: string): Promise<string> {
    const { code, stdout, stderr } = await this.#run(args, signal, input)
    if (code !== 0) throw new Error(`ip ${args.join(' ')}: ${stderr.trim()}`)
    return stdout
  }

  #run(args: readonly string[], signal: AbortSignal, input?: string) {
    return this.#processes.run('ip', args, input === undefined ? {} : { input }, signal)
  }
}

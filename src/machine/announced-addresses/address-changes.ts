// What to change so that an interface has the announced addresses, as lines for `ip -batch`.
import { cidrOfAddress } from '../../base/net/cidr.ts'
import { commandText, type CommandText } from '../../base/net/command-text.ts'
import { parseInterfaceName, type InterfaceName } from '../../base/net/interface-name.ts'
import type { IpAddress } from '../../base/net/ip-address.ts'
import { familyOf } from '../../base/net/address-family.ts'
import { addressSeconds } from './announced-addresses.ts'

/** One interface in the output of `ip -j addr show`. */
export interface LinkAddresses {
  readonly ifname: string
  /** The hardware address. */
  readonly address?: string
  readonly addr_info?: readonly { readonly local?: string; readonly valid_life_time?: number }[]
}

export interface AddressChanges {
  readonly lines: readonly CommandText[]
  /** Which addresses are set afterwards, with their interface. */
  readonly devices: ReadonlyMap<IpAddress, InterfaceName>
  readonly problems: ReadonlyMap<IpAddress, string>
}

/**
 * `held` are the addresses that this process has set, and `routes` the interfaces to addresses that this machine does not
 * have. Ours never live longer than `addressSeconds`, so an address with more time left belongs to someone else.
 */
export function addressChanges(
  wanted: readonly IpAddress[],
  held: ReadonlySet<IpAddress>,
  links: readonly LinkAddresses[],
  routes: ReadonlyMap<IpAddress, InterfaceName>,
): AddressChanges {
  const present = new Map(
    links.flatMap(({ ifname, addr_info = [] }) =>
      addr_info.map(
        ({ local = '', valid_life_time: seconds = Infinity }) =>
          [local, { device: parseInterfaceName(ifname), seconds }] as const,
      ),
    ),
  )
  const lines: CommandText[] = []
  const devices = new Map<IpAddress, InterfaceName>()
  const problems = new Map<IpAddress, string>()
  for (const address of wanted) {
    const found = present.get(address)
    const device = found?.device ?? routes.get(address)
    if (found !== undefined && found.seconds > addressSeconds)
      problems.set(address, 'this machine has the address already, and not as a load balancer')
    else if (device === undefined) problems.set(address, 'this machine has no route to the address')
    else {
      lines.push(commandText`addr replace ${cidrOfAddress(address)} dev ${device} ${optionsOf(address)}`)
      devices.set(address, device)
    }
  }
  const unwanted = [...held].filter((address) => !wanted.includes(address))
  for (const address of unwanted) {
    const found = present.get(address)
    if (found?.device !== undefined && found.seconds <= addressSeconds)
      lines.push(commandText`addr del ${cidrOfAddress(address)} dev ${found.device}`)
  }
  return { lines, devices, problems }
}

/** Deprecated, so that this machine does not use it as the source of its own connections. */
const optionsOf = (address: IpAddress): CommandText =>
  commandText`valid_lft ${addressSeconds} preferred_lft 0${familyOf(address) === 'IPv4' ? '' : ' nodad noprefixroute'}`

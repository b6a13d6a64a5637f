// What to change so that an interface has the announced addresses, as lines for `ip -batch`.
import { familyOf } from '../../base/text/address-family.ts'
import { addressSeconds } from './announced-addresses.ts'

/** One interface in the output of `ip -j addr show`. */
export interface LinkAddresses {
  readonly ifname: string
  /** The hardware address. */
  readonly address?: string
  readonly addr_info?: readonly { readonly local?: string; readonly valid_life_time?: number }[]
}

export interface AddressChanges {
  readonly lines: readonly string[]
  /** Which addresses are set afterwards, with their interface. */
  readonly devices: ReadonlyMap<string, string>
  readonly problems: ReadonlyMap<string, string>
}

/**
 * `held` are the addresses that this process has set, and `routes` the interfaces to addresses that this machine does not
 * have. Ours never live longer than `addressSeconds`, so an address with more time left belongs to someone else.
 */
export function addressChanges(
  wanted: readonly string[],
  held: ReadonlySet<string>,
  links: readonly LinkAddresses[],
  routes: ReadonlyMap<string, string>,
): AddressChanges {
  const present = new Map(
    links.flatMap(({ ifname, addr_info = [] }) =>
      addr_info.map(({ local = '', valid_life_time: seconds = Infinity }) => [local, { ifname, seconds }] as const),
    ),
  )
  const lines: string[] = []
  const devices = new Map<string, string>()
  const problems = new Map<string, string>()
  for (const address of wanted) {
    const found = present.get(address)
    const device = found?.ifname ?? routes.get(address)
    if (found !== undefined && found.seconds > addressSeconds)
      problems.set(address, 'this machine has the address already, and not as a load balancer')
    else if (device === undefined) problems.set(address, 'this machine has no route to the address')
    else {
      lines.push(`addr replace ${prefixOf(address)} dev ${device} ${optionsOf(address)}`)
      devices.set(address, device)
    }
  }
  const unwanted = [...held].filter((address) => !wanted.includes(address))
  for (const address of unwanted) {
    const found = present.get(address)
    if (found !== undefined && found.seconds <= addressSeconds)
      lines.push(`addr del ${prefixOf(address)} dev ${found.ifname}`)
  }
  return { lines, devices, problems }
}

const prefixOf = (address: string): string => `${address}/${familyOf(address) === 'IPv4' ? 32 : 128}`

/** Deprecated, so that this machine does not use it as the source of its own connections. */
const optionsOf = (address: string): string =>
  `valid_lft ${addressSeconds} preferred_lft 0${familyOf(address) === 'IPv4' ? '' : ' nodad noprefixroute'}`

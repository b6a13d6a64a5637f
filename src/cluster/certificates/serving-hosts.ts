// The names and addresses in the API server's certificate.
import { hostname, networkInterfaces } from 'node:os'
import { isLinkLocalAddress } from '../../base/net/address-kind.ts'
import { parseIp } from '../../base/net/ip-address.ts'
import { ipBytes, ipText, isIp } from '../../base/net/ip-bytes.ts'

export interface MachineNames {
  readonly hostname: string
  readonly addresses: readonly string[]
}

const wildcards = ['0.0.0.0', '::']

export const isWildcard = (host: string): boolean => wildcards.includes(host)

/** A server that listens on all addresses can be reached at each of them and by the machine's name. */
export const servingHosts = (host: string, sans: readonly string[], machine: MachineNames): readonly string[] => [
  ...new Set([...(isWildcard(host) ? [...machine.addresses, machine.hostname] : [host]), ...sans]),
]

/** Link-local addresses are omitted, since they are only valid on one link. */
export const machineNames = (): MachineNames => ({
  hostname: hostname().toLowerCase(),
  addresses: Object.values(networkInterfaces())
    .flatMap((addresses = []) => addresses)
    .filter(({ internal, address }) => !internal && !isLinkLocal(address))
    .map(({ address }) => address)
    .toSorted(),
})

function isLinkLocal(text: string): boolean {
  const address = parseIp(text)
  return address !== undefined && isLinkLocalAddress(address)
}

const dnsName = /^(\*\.)?[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*\.?$/
const dnsNameCharactersMax = 253
const sansMax = 100

/** Normalises addresses, which have many spellings. */
function canonical(san: string): string {
  const bytes = ipBytes(san)
  return bytes === undefined ? san.toLowerCase() : ipText(bytes)
}

/** The values of --tls-san: names and addresses, separated by commas. */
export function tlsSansOf(text: string | undefined): readonly string[] {
  const sans = (text ?? '').split(',').flatMap((part) => (part.trim() === '' ? [] : [canonical(part.trim())]))
  if (sans.length > sansMax) throw new Error(`--tls-san: ${sans.length} names are more than ${sansMax}`)
  for (const san of sans)
    if (isWildcard(san) || (!isIp(san) && (san.length > dnsNameCharactersMax || !dnsName.test(san))))
      throw new Error(`--tls-san ${JSON.stringify(san)} is neither a DNS name nor an IP address`)
  return [...new Set(sans)]
}

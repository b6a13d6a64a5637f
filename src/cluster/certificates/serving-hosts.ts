// The names and addresses in the API server's certificate.
import { hostname, networkInterfaces } from 'node:os'
import { isIP } from 'node:net'

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
    .filter(({ internal, address }) => !internal && !/^fe[89ab]/i.test(address))
    .map(({ address }) => address)
    .toSorted(),
})

const dnsName = /^(\*\.)?[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*\.?$/
const dnsNameCharactersMax = 253
const sansMax = 100

/** Normalises IPv6 addresses, which have many spellings. */
const canonical = (san: string): string =>
  isIP(san) === 6 ? new URL(`http://[${san}]`).hostname.slice(1, -1) : san.toLowerCase()

/** The values of --tls-san: names and addresses, separated by commas. */
export function tlsSansOf(text: string | undefined): readonly string[] {
  const sans = (text ?? '').split(',').flatMap((part) => (part.trim() === '' ? [] : [canonical(part.trim())]))
  if (sans.length > sansMax) throw new Error(`--tls-san: ${sans.length} names are more than ${sansMax}`)
  for (const san of sans)
    if (isWildcard(san) || (isIP(san) === 0 && (san.length > dnsNameCharactersMax || !dnsName.test(san))))
      throw new Error(`--tls-san ${JSON.stringify(san)} is neither a DNS name nor an IP address`)
  return [...new Set(sans)]
}

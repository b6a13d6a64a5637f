// reachableServer: where other machines reach an API server that this machine reaches at a loopback address, because it listens on
// all addresses.
import { hostOfUrl, isLoopbackHost, joinHostPort } from '../../base/net/host-port.ts'

export interface ReachableServerDeps {
  /** The addresses of this machine's networks, without loopback and those of the cluster's own devices. */
  readonly addresses: readonly string[]
  /** The addresses from which the default routes of this machine lead, the preferred family first. */
  readonly routed: () => Promise<readonly string[]>
  /** Whether the same server listens there, with a certificate for this address. */
  readonly serves: (server: string) => Promise<boolean>
}

export type ReachableServer =
  | { readonly kind: 'found'; readonly server: string }
  /** It listens on several, and no default route shows which of them is meant. */
  | { readonly kind: 'several'; readonly servers: readonly string[] }
  /** Only this machine reaches it. */
  | { readonly kind: 'none' }

export async function reachableServer(
  server: string,
  { addresses, routed, serves }: ReachableServerDeps,
): Promise<ReachableServer> {
  const url = new URL(server)
  if (!isLoopbackHost(hostOfUrl(url))) return { kind: 'found', server }
  const at = (address: string) => `https://${joinHostPort(address, url.port || '443')}`
  for (const address of await routed())
    if (addresses.includes(address) && (await serves(at(address)))) return { kind: 'found', server: at(address) }
  const found: string[] = []
  for (const address of addresses) if (await serves(at(address))) found.push(at(address))
  const [only, ...others] = found
  if (only === undefined) return { kind: 'none' }
  return others.length === 0 ? { kind: 'found', server: only } : { kind: 'several', servers: found }
}

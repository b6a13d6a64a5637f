// serverForOthers: the URL of the API server in commands for other machines.
import { realClock } from '../../base/time/clock.ts'
import { reachableServer, type ReachableServer } from '../../cluster/client/reachable-server.ts'
import type { Remote } from '../../cluster/client/remote.ts'
import { outsideAddresses } from '../../cluster/node/machine-network.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { routeSource } from '../../platform/node/socket/route-source.ts'
import { UsageError } from '../command/command.ts'

/** Documentation addresses, which no machine has: their routes are the default routes. */
const elsewhere = ['203.0.113.1', '2001:db8:ffff::1']
const responseMs = 3_000

/** Throws a UsageError that names `flag` where it is not certain. */
export async function serverForOthers(
  { server, authority }: Pick<Remote, 'server' | 'authority'>,
  flag: string,
  signal: AbortSignal,
): Promise<string> {
  const found = await reachableServer(server, {
    addresses: outsideAddresses(),
    routed: async () => (await Promise.all(elsewhere.map(routeSource))).filter((address) => address !== undefined),
    serves: (origin) => respondsAt(origin, authority, signal),
  })
  return certainServer(found, server, flag)
}

export function certainServer(found: ReachableServer, server: string, flag: string): string {
  if (found.kind === 'found') return found.server
  throw new UsageError(
    found.kind === 'none'
      ? `other machines do not reach ${server}; start the cluster with --bind and its address`
      : `the API server listens at ${found.servers.join(', ')}; choose with ${flag} the one that the other machine reaches`,
  )
}

/** Whether a server with a certificate of the cluster's CA for this address responds, whatever it says. */
async function respondsAt(origin: string, authority: string | undefined, signal: AbortSignal): Promise<boolean> {
  const outbound = nodePlatform.outbound.connect({ origin, tls: authority === undefined ? {} : { authority } })
  const deadline = new AbortController()
  const timer = realClock.after(responseMs, () => deadline.abort())
  try {
    await outbound.send({ method: 'GET', target: '/livez', headers: {} }, AbortSignal.any([signal, deadline.signal]))
    return true
  } catch {
    signal.throwIfAborted()
    return false
  } finally {
    timer.cancel()
    await outbound.close()
  }
}

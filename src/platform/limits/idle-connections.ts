// Decides which idle connections are closed when a limit on connections is nearly reached.
import type { ListenLimits } from './listen-limits.ts'

export interface ConnectionUse {
  readonly client: string
  /** A request is in progress, or the connection has been upgraded. */
  readonly isBusy: boolean
  /** The client has authenticated itself by certificate or token. */
  readonly isAuthenticated: boolean
  /** Since its last request, or since it was opened. */
  readonly idleSeconds: number
}

/** This share of a limit is reserved for new connections. */
const spareShare = 0.1
/** A client that sends one request after another is not idle in between. */
const idleSecondsMin = 1
const authenticatedIdleSecondsMin = 10

/**
 * Connections of clients near their own limit, then of all clients if the overall limit is near. Unauthenticated
 * connections first, the longest idle first.
 */
export function connectionsToClose<Use extends ConnectionUse>(
  uses: readonly Use[],
  { connectionsMax, connectionsPerClientMax }: Pick<ListenLimits, 'connectionsMax' | 'connectionsPerClientMax'>,
): readonly Use[] {
  const perClientMax = keptOf(connectionsPerClientMax)
  const overallMax = keptOf(connectionsMax)
  if (uses.length <= Math.min(perClientMax, overallMax)) return []
  const counts = new Map<string, number>()
  for (const { client } of uses) counts.set(client, (counts.get(client) ?? 0) + 1)
  let open = uses.length
  const idle = uses
    .filter(
      ({ isBusy, isAuthenticated, idleSeconds }) =>
        !isBusy && idleSeconds >= (isAuthenticated ? authenticatedIdleSecondsMin : idleSecondsMin),
    )
    .toSorted(
      (one, other) =>
        Number(one.isAuthenticated) - Number(other.isAuthenticated) || other.idleSeconds - one.idleSeconds,
    )
  const closing = new Set<Use>()
  const closeWhere = (isSurplus: (client: string) => boolean) => {
    for (const use of idle) {
      const { client } = use
      if (closing.has(use) || !isSurplus(client)) continue
      closing.add(use)
      counts.set(client, (counts.get(client) ?? 0) - 1)
      open--
    }
  }
  closeWhere((client) => (counts.get(client) ?? 0) > perClientMax)
  closeWhere(() => open > overallMax)
  return [...closing]
}

const keptOf = (limit: number): number => Math.floor(limit * (1 - spareShare))

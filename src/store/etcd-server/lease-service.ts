// etcd's service Lease on a local store.
import { streamRoute, unaryRoute, type GrpcRoute } from '../../wire/grpc/grpc-server.ts'
import { GrpcError } from '../../wire/grpc/grpc-status.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Random } from '../../base/random/random.ts'
import type { LocalStore } from '../local-store.ts'
import {
  leaseGrantMethod,
  leaseKeepAliveMethod,
  leaseLeasesMethod,
  leaseRevokeMethod,
  leaseTimeToLiveMethod,
} from './etcd-api.ts'
import { leaseNotFound, leaseTtlTooLarge, translated } from './etcd-errors.ts'
import type { HeaderAt } from './kv-service.ts'

/** As in etcd with its default election timeout. */
const ttlSecondsMin = 2
const ttlSecondsMax = 9_000_000_000
/** etcd's ids have 63 bits; larger ones than this are not exact as numbers. */
const idMax = 2 ** 52

export interface LeaseServiceDeps {
  readonly store: LocalStore
  readonly clock: Clock
  readonly random: Random
  readonly headerAt: HeaderAt
}

export function leaseRoutes({ store, clock, random, headerAt }: LeaseServiceDeps): GrpcRoute[] {
  const header = () => headerAt(store.revision)
  const freeId = (): number => {
    for (;;) {
      const id = 1 + random.below(2 ** 20) * 2 ** 32 + random.below(2 ** 32)
      if (store.leases.get(id) === undefined) return id
    }
  }
  return [
    unaryRoute(leaseGrantMethod, ({ ttlSeconds, id }, { signal }) =>
      translated(async () => {
        if (ttlSeconds > ttlSecondsMax) throw leaseTtlTooLarge()
        if (id < 0 || id > idMax)
          throw new GrpcError('etcd', 'INVALID_ARGUMENT', `the id of a lease is at most ${idMax}, not ${id}`)
        const granted = Math.max(ttlSeconds, ttlSecondsMin)
        const lease = await store.grantLease(granted * 1_000, signal, id === 0 ? freeId() : id)
        return { header: header(), id: lease, ttlSeconds: granted }
      }),
    ),
    unaryRoute(leaseRevokeMethod, ({ id }, { signal }) =>
      translated(async () => {
        if (store.leases.get(id) === undefined) throw leaseNotFound()
        await store.revokeLease(id, signal)
        return { header: header() }
      }),
    ),
    streamRoute(leaseKeepAliveMethod, async ({ messages, send, signal }) => {
      for await (const { id } of messages) {
        const lease = await translated(() => store.renewLease(id, signal))
        send({ header: header(), id, ttlSeconds: lease === undefined ? 0 : lease.ttlMs / 1_000 })
      }
    }),
    unaryRoute(leaseTimeToLiveMethod, ({ id, keys }) => {
      const lease = store.leases.get(id)
      if (lease === undefined) return { header: header(), id, ttlSeconds: -1 }
      return {
        header: header(),
        id,
        ttlSeconds: Math.max(0, Math.floor((lease.expiresMs - clock.nowMs()) / 1_000)),
        grantedTtlSeconds: lease.ttlMs / 1_000,
        ...(keys ? { keys: store.keysOf(id) } : {}),
      }
    }),
    unaryRoute(leaseLeasesMethod, () => ({
      header: header(),
      leases: store.leases
        .all()
        .toSorted((a, b) => a.expiresMs - b.expiresMs)
        .map(({ id }) => ({ id })),
    })),
  ]
}

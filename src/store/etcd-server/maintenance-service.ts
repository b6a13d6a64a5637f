// etcd's services Maintenance and Cluster for the one member that a local store is.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import { streamRoute, unaryRoute, type GrpcRoute } from '../../wire/grpc/grpc-server.ts'
import { GrpcError } from '../../wire/grpc/grpc-status.ts'
import type { LocalStore } from '../local-store.ts'
import { alarmMethod, defragmentMethod, memberListMethod, snapshotMethod, statusMethod } from './etcd-api.ts'
import type { HeaderAt } from './kv-service.ts'
import type { MemberIdentity } from './member-identity.ts'

/** The version of etcd whose API this is. */
export const etcdVersion = '3.6.0'
export const raftTerm = 2
/** A client that has not taken as much of a snapshot gets no more for now. */
const waitingBytesMax = 4 << 20

export interface MaintenanceDeps {
  readonly store: LocalStore
  readonly identity: MemberIdentity
  readonly headerAt: HeaderAt
  /** Writes a copy of the store to a new file and returns its path and size; undefined: the store has no file. */
  readonly copyTo: ((signal: AbortSignal) => Promise<{ readonly path: string; readonly bytes: number }>) | undefined
}

export function maintenanceRoutes({ store, identity, headerAt, copyTo }: MaintenanceDeps): GrpcRoute[] {
  const header = () => headerAt(store.revision)
  return [
    unaryRoute(statusMethod, async (_request, { signal }) => {
      // A store in memory has no size of its own.
      const size = (await store.sizeBytes?.(signal)) ?? process.memoryUsage.rss()
      return {
        header: header(),
        version: etcdVersion,
        dbSize: size,
        dbSizeInUse: size,
        leader: identity.memberId,
        raftIndex: store.revision,
        raftAppliedIndex: store.revision,
        raftTerm,
      }
    }),
    // No alarm lasts: a write that does not fit is rejected, and the next one that fits is accepted.
    unaryRoute(alarmMethod, () => ({ header: header() })),
    // The store frees space itself when it is idle.
    unaryRoute(defragmentMethod, () => ({ header: header() })),
    unaryRoute(memberListMethod, () => ({
      header: header(),
      members: [
        {
          id: identity.memberId,
          name: identity.name,
          peerUrls: identity.peerUrls,
          clientUrls: identity.clientUrls,
        },
      ],
    })),
    streamRoute(snapshotMethod, async (stream) => {
      if (copyTo === undefined)
        throw new GrpcError('etcd', 'UNIMPLEMENTED', 'a store in memory has no file of which a snapshot could be made')
      const { path, bytes } = await copyTo(stream.signal)
      try {
        const hash = createHash('sha256')
        let remainingBytes = bytes
        const send = async (blob: Uint8Array) => {
          const isFull = stream.waitingBytes > waitingBytesMax
          if (isFull) await unlessAborted(new Promise<void>((resolve) => stream.onRoom(resolve)), stream.signal)
          stream.send({ header: header(), remainingBytes, blob })
        }
        for await (const piece of createReadStream(path, { signal: stream.signal }) as AsyncIterable<Buffer>) {
          hash.update(piece)
          remainingBytes -= piece.length
          await send(piece)
        }
        // etcd's snapshots end with their checksum, which clients verify.
        await send(hash.digest())
      } finally {
        await rm(path, { force: true })
      }
    }),
  ]
}

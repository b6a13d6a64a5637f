// etcd's API in its own process, on a store in a file or in memory.
import { once } from 'node:events'
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { TaskGroup } from '../../base/async/task-group.ts'
import type { Log } from '../../base/observability/log.ts'
import { systemRandom } from '../../base/random/random.ts'
import { realClock } from '../../base/time/clock.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { heldBytesLimits } from '../../platform/limits/listen-limits.ts'
import type { Listener, ListenTls, StreamedRequest, WireResponse } from '../../platform/http/listener.ts'
import { grpcFailure, isGrpc } from '../../wire/grpc/grpc-server.ts'
import { GrpcError } from '../../wire/grpc/grpc-status.ts'
import type { HistoryBounds } from '../../store/history.ts'
import { MemoryStore } from '../../store/memory-store.ts'
import { SqliteStore } from '../../store/sqlite/sqlite-store.ts'
import { EtcdServer } from '../../store/etcd-server/etcd-server.ts'
import type { MemberIdentity } from '../../store/etcd-server/member-identity.ts'

export interface EtcdProcessOptions {
  /** The directory of the store; undefined: it is in memory. */
  readonly dataDirectory: string | undefined
  readonly listen: readonly EtcdAddress[]
  /** Rejects clients without a valid certificate. */
  readonly requiresCertificate: boolean
  readonly identity: MemberIdentity
  /** What is kept besides the newest state. */
  readonly history: { readonly ms: number; readonly bounds: HistoryBounds }
  readonly fileBytesMax: number
  /** Writes are synced before they are acknowledged. */
  readonly syncs: boolean
  readonly progressMs: number
  readonly log: Log
  readonly onReady: (listeners: readonly Listener[]) => void
}

export interface EtcdAddress {
  readonly host: string
  readonly port: number
  readonly tls: ListenTls | undefined
}

export const storeFileName = 'store.db'
/** Long responses of several clients at once. */
const heldBytesMax = 1 << 30
const closeMs = 1_000

/** Serves until the signal is aborted. */
export async function runEtcd(options: EtcdProcessOptions, signal: AbortSignal): Promise<void> {
  const { identity, progressMs, log } = options
  const { store, copyTo } = await openStore(options, signal)
  const listeners: Listener[] = []
  try {
    const server = new EtcdServer({ store, clock: realClock, random: systemRandom, identity, copyTo, progressMs })
    await using tasks = new TaskGroup()
    tasks.start('watchers', (stop) => server.run(stop))
    const handle = (request: StreamedRequest) =>
      options.requiresCertificate && request.certificate?.trustedFor.includes('users') !== true
        ? unauthenticated(request)
        : server.handle(request)
    for (const { host, port, tls } of options.listen)
      listeners.push(
        await nodePlatform.listeners.listen({
          host,
          port,
          handle,
          compresses: false,
          limits: heldBytesLimits(heldBytesMax),
          ...(tls === undefined ? { acceptsH2c: true } : { tls }),
        }),
      )
    options.onReady(listeners)
    if (!signal.aborted) await once(signal, 'abort')
    log.info('stopping')
    await Promise.all(listeners.map((listener) => listener.close(closeMs)))
  } finally {
    await Promise.all(listeners.map((listener) => listener.close(0)))
    await store.close()
  }
}

const noCertificate = 'a client certificate of the trusted authority is required'

const unauthenticated = (request: StreamedRequest): WireResponse =>
  isGrpc(request)
    ? grpcFailure(new GrpcError(request.target, 'UNAUTHENTICATED', noCertificate))
    : { status: 401, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: `${noCertificate}\n` }

type Opened = Pick<ConstructorParameters<typeof EtcdServer>[0], 'store' | 'copyTo'>

async function openStore(options: EtcdProcessOptions, signal: AbortSignal): Promise<Opened> {
  const { dataDirectory, history, fileBytesMax, syncs } = options
  if (dataDirectory === undefined) return { store: new MemoryStore(realClock), copyTo: undefined }
  await nodePlatform.files.makeDirectory(dataDirectory)
  const store = await SqliteStore.open(
    {
      path: join(dataDirectory, storeFileName),
      workers: nodePlatform.workers,
      clock: realClock,
      historyMs: history.ms,
      historyBounds: history.bounds,
      fileBytesMax,
      syncs,
    },
    signal,
  )
  let copies = 0
  const copyTo = async (stop: AbortSignal) => {
    const path = join(dataDirectory, `snapshot-${process.pid}-${++copies}.db`)
    try {
      await store.snapshotTo(path, stop)
      return { path, bytes: (await stat(path)).size }
    } catch (error) {
      await rm(path, { force: true })
      throw error
    }
  }
  return { store, copyTo }
}

// The disk thread: loads the file, then executes requests in order. It is the only writer of the file.
import { parentPort, workerData } from 'node:worker_threads'
import { present } from '../../base/assert.ts'
import { pack, type Change } from './packed-changes.ts'
import { StoreDatabase } from './store-database.ts'
import { failureOf } from './store-errors.ts'
import { hasFile, loadFile } from './load-file.ts'
import { lockFile } from './file-lock.ts'
import type { DiskOptions, DiskReply, DiskRequest } from './disk-protocol.ts'
import { createFile } from './file-format.ts'

const port = present(parentPort, 'the disk thread must be started as a worker')
const options = workerData as DiskOptions
const { path } = options
const reply = (message: DiskReply): void => port.postMessage(message)
const resources = new DisposableStack()

/** The store's thread processes all waiting messages in one turn of its event loop, so only a few are sent ahead. */
const piecesInFlightMax = 2
let piecesInFlight = 0
let onAcknowledged = (): void => {}

async function send(piece: readonly Change[], compacted: number): Promise<void> {
  reply({ kind: 'loaded', changes: pack(piece), compacted })
  piecesInFlight++
  if (piecesInFlight >= piecesInFlightMax) await new Promise<void>((resolve) => (onAcknowledged = resolve))
}

async function open(): Promise<StoreDatabase> {
  resources.use(lockFile(path))
  if (!hasFile(path)) createFile(path)
  const loaded = await loadFile(path, send)
  const database = resources.use(new StoreDatabase(options))
  reply({ kind: 'ready', ...loaded })
  return database
}

function serve(database: StoreDatabase, request: DiskRequest): void {
  switch (request.kind) {
    case 'acknowledge':
      return
    case 'write':
      database.write(request)
      break
    case 'import':
      database.import(request)
      break
    case 'compact':
      database.compact(request)
      break
    case 'shrink':
      return reply({ kind: 'done', more: database.shrink() })
    case 'close':
      attempt(() => database.shrink())
      resources.dispose()
      reply({ kind: 'done', more: false })
      return port.close()
    default:
      return request satisfies never
  }
  reply({ kind: 'done', more: false })
  attempt(() => database.checkpointIfLarge())
}

// A checkpoint may fail without space. The log still has everything, and a later attempt may succeed.
function attempt(work: () => void): void {
  try {
    work()
  } catch {
    return
  }
}

const onAcknowledge = (): void => {
  piecesInFlight--
  onAcknowledged()
}
port.on('message', onAcknowledge)
try {
  const database = await open()
  port.off('message', onAcknowledge)
  port.on('message', (request: DiskRequest) => {
    try {
      serve(database, request)
    } catch (error) {
      reply({ kind: 'failed', failure: failureOf(`${request.kind} ${path}`, error) })
    }
  })
} catch (error) {
  resources.dispose()
  reply({ kind: 'failed', failure: failureOf(`open ${path}`, error) })
}

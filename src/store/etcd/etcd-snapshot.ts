// Snapshots of etcd: its own database file, streamed from one member while the cluster is running. The file ends with
// its checksum. It gets its name only when it is complete, verified and synced.
import { createHash } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { noMetadata, type GrpcChannel } from '../../wire/grpc/grpc-channel.ts'
import { StoreUnavailable } from '../store.ts'
import { snapshotMethod } from './etcd-messages.ts'

const checksumBytes = 32

export async function takeSnapshot(channel: GrpcChannel, path: string, signal: AbortSignal): Promise<void> {
  const building = `${path}.part`
  try {
    const file = await open(building, 'w', 0o600)
    try {
      const checked = new ChecksumVerifier()
      for await (const { blob } of channel.serverStream(snapshotMethod, {}, noMetadata, signal)) {
        checked.take(blob)
        await file.writeFile(blob)
      }
      if (!checked.isValid) throw new StoreUnavailable(`snapshot from ${channel.endpoint}: the checksum does not match`)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(building, path)
    await syncDirectory(dirname(path))
  } catch (error) {
    await rm(building, { force: true })
    throw error
  }
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path)
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

/** The SHA-256 digest of all but the last 32 bytes, which must equal those bytes. */
class ChecksumVerifier {
  readonly #hash = createHash('sha256')
  #tail = Buffer.alloc(0)

  take(blob: Uint8Array): void {
    const whole = Buffer.concat([this.#tail, blob])
    const end = Math.max(0, whole.length - checksumBytes)
    this.#hash.update(whole.subarray(0, end))
    this.#tail = whole.subarray(end)
  }

  get isValid(): boolean {
    return this.#tail.length === checksumBytes && this.#hash.digest().equals(this.#tail)
  }
}

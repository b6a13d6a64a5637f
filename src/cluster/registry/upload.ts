// Upload: a blob that is being pushed. Its digest is computed as its pieces arrive.
import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import type { Clock } from '../../base/time/clock.ts'
import type { Digest, Repository } from './image-names.ts'
import { RegistryError } from './registry-error.ts'

/** A client that sends nothing for so long has stalled. */
const pieceMsMax = 120_000

export class Upload {
  readonly path: string
  readonly repository: Repository
  readonly #clock: Clock
  readonly #hash = createHash('sha256')
  #size = 0
  #usedMs: number
  #isBusy = false
  #hasFailed = false

  constructor(path: string, repository: Repository, clock: Clock) {
    this.path = path
    this.repository = repository
    this.#clock = clock
    this.#usedMs = clock.monotonicMs()
  }

  /** The bytes that have arrived. */
  get size(): number {
    return this.#size
  }

  /** When the last request ended. */
  get usedMs(): number {
    return this.#usedMs
  }

  get isBusy(): boolean {
    return this.#isBusy
  }

  /** `reserve` fails if there is no space for so many bytes. What was written before an error stays part of the upload. */
  async append(pieces: AsyncIterable<Uint8Array>, reserve: (bytes: number) => void): Promise<void> {
    await this.#exclusively(async () => {
      const file = await open(this.path, 'a', 0o600)
      try {
        for await (const piece of inTime(pieces, this.#clock)) {
          reserve(piece.length)
          this.#size += piece.length
          // A file with a part of a piece does not have the content of the hash.
          this.#hasFailed = true
          await file.appendFile(piece)
          this.#hash.update(piece)
          this.#hasFailed = false
        }
      } finally {
        await file.close()
      }
    })
  }

  /** Makes the file durable, and returns its digest. Called once. */
  async finish(): Promise<Digest> {
    return this.#exclusively(async () => {
      const file = await open(this.path, 'a', 0o600)
      try {
        await file.sync()
      } finally {
        await file.close()
      }
      this.#hasFailed = true // the hash cannot be continued
      return this.#hash.digest('hex') as Digest
    })
  }

  async #exclusively<T>(use: () => Promise<T>): Promise<T> {
    if (this.#isBusy) throw invalid('another request uses this upload')
    if (this.#hasFailed) throw invalid('this upload has ended; begin it again')
    this.#isBusy = true
    try {
      return await use()
    } finally {
      this.#isBusy = false
      this.#usedMs = this.#clock.monotonicMs()
    }
  }
}

async function* inTime(pieces: AsyncIterable<Uint8Array>, clock: Clock): AsyncGenerator<Uint8Array> {
  const iterator = pieces[Symbol.asyncIterator]()
  const late = Promise.withResolvers<never>()
  late.promise.catch(() => {}) // it may be late after the last piece
  try {
    for (;;) {
      const timer = clock.after(pieceMsMax, () => late.reject(invalid(`nothing arrived for ${pieceMsMax / 1_000} s`)))
      const next = await Promise.race([iterator.next(), late.promise]).finally(() => timer.cancel())
      if (next.done === true) return
      yield next.value
    }
  } finally {
    void iterator.return?.()
  }
}

const invalid = (message: string): RegistryError => new RegistryError(400, 'BLOB_UPLOAD_INVALID', message)

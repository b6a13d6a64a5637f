// ImageStore: the files of a registry. A blob is a file that is named by its digest, so its content never changes; a manifest is
// a blob that a repository knows with its media type, and a tag is a file with a digest.
//
//   blobs/<digest>   repositories/<name>/manifests/<digest>   repositories/<name>/tags/<tag>   uploads/<id>
import { hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, readFile, rename, rm, stat } from 'node:fs/promises'
import type { Random } from '../../base/random/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Files } from '../../platform/files.ts'
import { collectGarbage } from './collect-garbage.ts'
import { digestText, folderOf, isDigest, type Digest, type Reference, type Repository } from './image-names.ts'
import { mediaTypeOf, referencesOf, type MediaType } from './manifest.ts'
import { RegistryError } from './registry-error.ts'
import { Upload } from './upload.ts'

export interface ImageStoreOptions {
  readonly folder: string
  /** Of all blobs and uploads. */
  readonly bytesMax: number
}

export interface ImageStoreDeps {
  readonly files: Files
  readonly clock: Clock
  readonly random: Random
}

export interface StoredManifest {
  readonly digest: Digest
  readonly mediaType: MediaType
  readonly bytes: Uint8Array
}

export const uploadsMax = 100
/** An upload without a request for so long is removed. */
const uploadIdleMsMax = 3_600_000
const idBytes = 16

export class ImageStore {
  readonly #options: ImageStoreOptions
  readonly #deps: ImageStoreDeps
  readonly #uploads = new Map<string, Upload>()
  #bytes: number

  private constructor(options: ImageStoreOptions, deps: ImageStoreDeps, bytes: number) {
    this.#options = options
    this.#deps = deps
    this.#bytes = bytes
  }

  /** Removes unfinished uploads, and what no tag refers to any more. */
  static async open(options: ImageStoreOptions, deps: ImageStoreDeps): Promise<ImageStore> {
    const { folder } = options
    await rm(`${folder}/uploads`, { recursive: true, force: true })
    for (const name of ['blobs', 'repositories', 'uploads'])
      await mkdir(`${folder}/${name}`, { recursive: true, mode: 0o700 })
    return new ImageStore(options, deps, await collectGarbage(folder, deps.files))
  }

  /** Undefined if there is no such blob. */
  async blobSize(digest: Digest): Promise<number | undefined> {
    const found = await stat(this.#blobPath(digest)).catch(() => undefined)
    return found?.size
  }

  /** The bytes from `first` to `last`, both included. */
  async *readBlob(digest: Digest, first: number, last: number): AsyncGenerator<Uint8Array> {
    yield* createReadStream(this.#blobPath(digest), { start: first, end: last })
  }

  async beginUpload(repository: Repository): Promise<{ readonly id: string; readonly upload: Upload }> {
    const { clock, random } = this.#deps
    for (const [id, { usedMs, isBusy }] of this.#uploads)
      if (!isBusy && clock.monotonicMs() - usedMs > uploadIdleMsMax) await this.dropUpload(id)
    if (this.#uploads.size >= uploadsMax)
      throw new RegistryError(429, 'TOOMANYREQUESTS', `${uploadsMax} uploads are unfinished; finish or cancel one`)
    const id = random.bytes(idBytes).toHex()
    const upload = new Upload(`${this.#options.folder}/uploads/${id}`, repository, clock)
    this.#uploads.set(id, upload)
    return { id, upload }
  }

  upload(id: string, repository: Repository): Upload {
    const upload = this.#uploads.get(id)
    if (upload === undefined || upload.repository !== repository)
      throw new RegistryError(404, 'BLOB_UPLOAD_UNKNOWN', 'there is no such upload; begin it again')
    return upload
  }

  async append(upload: Upload, pieces: AsyncIterable<Uint8Array>): Promise<void> {
    await upload.append(pieces, (bytes) => this.#reserve(bytes))
  }

  /** Makes the upload a blob, if it has this digest. */
  async finishUpload(id: string, upload: Upload, digest: Digest): Promise<void> {
    const actual = await upload.finish()
    if (actual !== digest) {
      await this.dropUpload(id)
      const message = `the blob has the digest ${digestText(actual)}, not ${digestText(digest)}`
      throw new RegistryError(400, 'DIGEST_INVALID', message)
    }
    if ((await this.blobSize(digest)) !== undefined) return this.dropUpload(id)
    await rename(upload.path, this.#blobPath(digest))
    this.#uploads.delete(id)
  }

  async dropUpload(id: string): Promise<void> {
    const upload = this.#uploads.get(id)
    if (upload === undefined) return
    this.#uploads.delete(id)
    this.#bytes -= upload.size
    await rm(upload.path, { force: true })
  }

  /** Stores a manifest whose blobs and manifests are here already; returns its digest. */
  async putManifest(
    repository: Repository,
    reference: Reference,
    mediaType: MediaType,
    bytes: Uint8Array,
  ): Promise<Digest> {
    const digest = hash('sha256', bytes) as Digest
    if (reference.kind === 'digest' && reference.digest !== digest)
      throw new RegistryError(400, 'DIGEST_INVALID', `the manifest has the digest ${digestText(digest)}`)
    const { blobs, manifests } = referencesOf(bytes, mediaType)
    for (const each of blobs) if ((await this.blobSize(each)) === undefined) throw unknownBlob(each)
    for (const each of manifests) if ((await this.#mediaType(repository, each)) === undefined) throw unknownBlob(each)
    const { files } = this.#deps
    if ((await this.blobSize(digest)) === undefined) {
      this.#reserve(bytes.length)
      await files.write(this.#blobPath(digest), bytes)
    }
    const folder = this.#repositoryFolder(repository)
    for (const name of ['manifests', 'tags']) await files.makeDirectory(`${folder}/${name}`)
    await files.write(`${folder}/manifests/${digest}`, mediaType)
    // Last, so that a tag always names a complete image.
    if (reference.kind === 'tag') await files.write(`${folder}/tags/${reference.tag}`, digest)
    return digest
  }

  async manifest(repository: Repository, reference: Reference): Promise<StoredManifest | undefined> {
    const digest = reference.kind === 'digest' ? reference.digest : await this.#taggedDigest(repository, reference.tag)
    const mediaType = digest === undefined ? undefined : await this.#mediaType(repository, digest)
    if (digest === undefined || mediaType === undefined) return undefined
    return { digest, mediaType, bytes: await readFile(this.#blobPath(digest)) }
  }

  /** Sorted; undefined if there is no such repository. */
  async tags(repository: Repository): Promise<readonly string[] | undefined> {
    const folder = this.#repositoryFolder(repository)
    if ((await this.#deps.files.list(folder)).length === 0) return undefined
    return (await this.#deps.files.list(`${folder}/tags`)).toSorted()
  }

  #reserve(bytes: number): void {
    const { bytesMax, folder } = this.#options
    if (this.#bytes + bytes > bytesMax)
      throw new RegistryError(
        413,
        'SIZE_INVALID',
        `the registry would have more than ${bytesMax} bytes; restart it to remove what has no tag, or delete ${folder}`,
      )
    this.#bytes += bytes
  }

  async #taggedDigest(repository: Repository, tag: string): Promise<Digest | undefined> {
    const bytes = await this.#deps.files.read(`${this.#repositoryFolder(repository)}/tags/${tag}`)
    const text = new TextDecoder().decode(bytes)
    return isDigest(text) ? text : undefined
  }

  async #mediaType(repository: Repository, digest: Digest): Promise<MediaType | undefined> {
    const bytes = await this.#deps.files.read(`${this.#repositoryFolder(repository)}/manifests/${digest}`)
    return bytes && mediaTypeOf(new TextDecoder().decode(bytes))
  }

  #blobPath(digest: Digest): string {
    return `${this.#options.folder}/blobs/${digest}`
  }

  #repositoryFolder(repository: Repository): string {
    return `${this.#options.folder}/repositories/${folderOf(repository)}`
  }
}

const unknownBlob = (digest: Digest): RegistryError =>
  new RegistryError(404, 'MANIFEST_BLOB_UNKNOWN', `${digestText(digest)} has not been pushed`)

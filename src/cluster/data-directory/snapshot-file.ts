// The format of a snapshot file: a line with the format name, a line of JSON, the parts one after the other, and a
// checksum. With a passphrase the parts are encrypted (scrypt, AES-256-GCM). Keys are never written without one.
import { createCipheriv, createDecipheriv, createHash, scrypt, timingSafeEqual, type Hash } from 'node:crypto'
import { open, type FileHandle } from 'node:fs/promises'
import { promisify } from 'node:util'
import { systemRandom } from '../../base/random/random.ts'

const magic = 'coxswain snapshot 1\n'
const headerBytesMax = 64 << 10
const checksumBytes = 32
const tagBytes = 16
const chunkBytes = 1 << 20

export interface SnapshotPart {
  /** A path relative to the data directory. */
  readonly name: string
  readonly bytes: number
}

export interface SnapshotHeader {
  readonly createdAt: string
  /** The name of the cluster. */
  readonly name: string
  readonly keys: 'included' | 'omitted'
  /** The path of the encryption configuration at rest. It is one of the parts if the keys are included. */
  readonly encryptionConfig?: string | undefined
  /** Flags whose values must stay the same, of a server. */
  readonly settings?: Readonly<Record<string, string>> | undefined
  /** The uid of the namespace kube-system, in scheduled snapshots. */
  readonly cluster?: string | undefined
  /** Nodes that the cluster's process created. */
  readonly nodes: readonly string[]
  /** The content of volumes of the class local-path, if it is included; `changed`: it was written to meanwhile. */
  readonly volumes?: 'unchanged' | 'changed' | undefined
  readonly parts: readonly SnapshotPart[]
  readonly cipher?: SnapshotCipher
}

interface SnapshotCipher {
  readonly kdf: 'scrypt'
  readonly cost: number
  readonly blockSize: number
  readonly parallelization: number
  /** Base64, as the next ones. */
  readonly salt: string
  readonly nonce: string
  /** Digest of a second derived key. It distinguishes a wrong passphrase from a damaged file. */
  readonly check: string
}

/** 128 MiB per attempt. */
const scryptCost = { cost: 1 << 17, blockSize: 8, parallelization: 1 } as const
const scryptBytesMax = 512 << 20
const derive = promisify<string, Uint8Array, number, object, Buffer>(scrypt)

export interface PartSource extends SnapshotPart {
  /** The bytes in chunks. */
  readonly read: () => AsyncIterable<Uint8Array>
}

export type NewHeader = Omit<SnapshotHeader, 'parts' | 'cipher'>

/** Writes and syncs a file that must not exist yet. */
export async function writeSnapshotFile(
  path: string,
  header: NewHeader,
  sources: readonly PartSource[],
  passphrase: string | undefined,
): Promise<void> {
  const parts = sources.map(({ name, bytes }) => ({ name, bytes }))
  const sealed = passphrase === undefined ? undefined : await newCipher(passphrase)
  const lines = `${magic}${JSON.stringify({ ...header, parts, ...(sealed && { cipher: sealed.description }) })}\n`
  const file = await open(path, 'wx', 0o600)
  try {
    const hash = createHash('sha256')
    const write = async (bytes: Uint8Array) => {
      hash.update(bytes)
      await file.writeFile(bytes)
    }
    const head = Buffer.from(lines)
    await write(head)
    const cipher = sealed && createCipheriv('aes-256-gcm', sealed.key, sealed.nonce)
    cipher?.setAAD(head)
    for (const { name, bytes, read } of sources) {
      let count = 0
      for await (const chunk of read()) {
        count += chunk.length
        await write(cipher === undefined ? chunk : cipher.update(chunk))
      }
      if (count !== bytes) throw new Error(`${name} has changed while the snapshot was written`)
    }
    if (cipher !== undefined) {
      await write(cipher.final())
      await write(cipher.getAuthTag())
    }
    await file.writeFile(hash.digest())
    await file.sync()
  } finally {
    await file.close()
  }
}

/** An open snapshot whose checksum is valid. */
export interface OpenSnapshot extends AsyncDisposable {
  readonly header: SnapshotHeader
  /** Passes on the bytes of each part, in order. Fails at the end when they are not authentic. */
  extract(passphrase: string | undefined, take: (part: string, chunk: Uint8Array) => Promise<void>): Promise<void>
}

/** Undefined when the file has another format. Throws when it is damaged. */
export async function openSnapshotFile(path: string): Promise<OpenSnapshot | undefined> {
  const file = await open(path).catch((cause: unknown) => {
    throw new Error(`the snapshot ${path} cannot be read`, { cause })
  })
  try {
    const head = await readHead(file, path)
    if (head === undefined) {
      await file.close()
      return undefined
    }
    const { header } = head
    await verify(file, path, contentBytes(head))
    return {
      header,
      extract: (passphrase, take) => extract(file, path, head, passphrase, take),
      [Symbol.asyncDispose]: () => file.close(),
    }
  } catch (error) {
    await file.close()
    throw error
  }
}

/** Undefined when the file is no snapshot, damaged at its beginning, or not complete. The content is not verified. */
export async function readSnapshotHeader(path: string): Promise<SnapshotHeader | undefined> {
  await using file = await open(path)
  const head = await readHead(file, path).catch(() => undefined)
  const { size } = await file.stat()
  return head !== undefined && size === contentBytes(head) + checksumBytes ? head.header : undefined
}

const contentBytes = ({ header: { parts, cipher }, headBytes }: Head): number =>
  headBytes.length + parts.reduce((sum, { bytes }) => sum + bytes, 0) + (cipher === undefined ? 0 : tagBytes)

interface Head {
  readonly header: SnapshotHeader
  readonly headBytes: Uint8Array
}

async function readHead(file: FileHandle, path: string): Promise<Head | undefined> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(headerBytesMax), 0, headerBytesMax, 0)
  const found = buffer.subarray(0, bytesRead)
  if (!found.subarray(0, magic.length).equals(Buffer.from(magic))) return undefined
  const end = found.indexOf('\n', magic.length)
  try {
    const header = JSON.parse(found.toString('utf8', magic.length, end)) as SnapshotHeader
    const isRight = header.parts.every(({ name, bytes }) => typeof name === 'string' && Number.isSafeInteger(bytes))
    if (end > 0 && isRight) return { header, headBytes: Uint8Array.from(found.subarray(0, end + 1)) }
  } catch {}
  throw new Error(`the snapshot ${path} is damaged: its header cannot be read`)
}

async function verify(file: FileHandle, path: string, bytes: number): Promise<void> {
  const { size } = await file.stat()
  const wanted = bytes + checksumBytes
  if (size !== wanted)
    throw new Error(
      `the snapshot ${path} is ${size < wanted ? 'cut off' : 'damaged'}: it has ${size} bytes instead of ${wanted}`,
    )
  const hash = createHash('sha256')
  for await (const chunk of chunksOf(file, 0, bytes)) hash.update(chunk)
  const { buffer } = await file.read(Buffer.alloc(checksumBytes), 0, checksumBytes, bytes)
  if (!sameDigest(hash, buffer)) throw new Error(`the snapshot ${path} is damaged: its checksum does not match`)
}

const sameDigest = (hash: Hash, expected: Uint8Array): boolean => timingSafeEqual(hash.digest(), expected)

async function extract(
  file: FileHandle,
  path: string,
  { header, headBytes }: Head,
  passphrase: string | undefined,
  take: (part: string, chunk: Uint8Array) => Promise<void>,
): Promise<void> {
  const decipher = header.cipher && (await decipherOf(header.cipher, path, passphrase))
  decipher?.setAAD(headBytes)
  let at = headBytes.length
  for (const { name, bytes } of header.parts) {
    for await (const chunk of chunksOf(file, at, bytes)) await take(name, decipher ? decipher.update(chunk) : chunk)
    at += bytes
  }
  if (decipher === undefined) return
  const { buffer } = await file.read(Buffer.alloc(tagBytes), 0, tagBytes, at)
  decipher.setAuthTag(buffer)
  try {
    decipher.final()
  } catch (cause) {
    throw new Error(`the snapshot ${path} was changed after it was written`, { cause })
  }
}

async function* chunksOf(file: FileHandle, start: number, bytes: number): AsyncGenerator<Uint8Array> {
  for (let done = 0; done < bytes;) {
    const wanted = Math.min(chunkBytes, bytes - done)
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(wanted), 0, wanted, start + done)
    if (bytesRead === 0) throw new Error('the file became shorter while it was read')
    done += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

async function newCipher(passphrase: string) {
  const salt = systemRandom.bytes(32)
  const nonce = systemRandom.bytes(12)
  const { key, check } = await keysOf(passphrase, salt, scryptCost)
  const description: SnapshotCipher = {
    kdf: 'scrypt',
    ...scryptCost,
    salt: salt.toBase64(),
    nonce: nonce.toBase64(),
    check: check.toBase64(),
  }
  return { description, key, nonce }
}

async function decipherOf(cipher: SnapshotCipher, path: string, passphrase: string | undefined) {
  if (passphrase === undefined)
    throw new Error(`the snapshot ${path} is encrypted; name its passphrase with --passphrase-file`)
  const { cost, blockSize, parallelization, salt, nonce } = cipher
  if (cipher.kdf !== 'scrypt' || !(128 * cost * blockSize <= scryptBytesMax) || !(parallelization <= 16))
    throw new Error(`the snapshot ${path} is damaged: its key derivation is not known`)
  const { key, check } = await keysOf(passphrase, Uint8Array.fromBase64(salt), { cost, blockSize, parallelization })
  if (check.toBase64() !== cipher.check) throw new Error(`the passphrase is not that of the snapshot ${path}`)
  return createDecipheriv('aes-256-gcm', key, Uint8Array.fromBase64(nonce), { authTagLength: tagBytes })
}

async function keysOf(
  passphrase: string,
  salt: Uint8Array,
  cost: Pick<SnapshotCipher, 'cost' | 'blockSize' | 'parallelization'>,
) {
  const derived = await derive(passphrase, salt, 64, { ...cost, maxmem: 2 * scryptBytesMax })
  const check = Uint8Array.from(createHash('sha256').update(derived.subarray(32)).digest())
  return { key: derived.subarray(0, 32), check }
}

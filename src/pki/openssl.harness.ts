// OpenSSL's reading of certificates and certificate requests, and structured mutations of DER to compare it with ours.
import { spawnSync } from 'node:child_process'
import { mutatedBytes, pick } from '../base/random/fuzz.harness.ts'
import type { Random } from '../base/random/random.ts'
import { DerReader } from './der-reader.ts'

/** The program of OpenSSL 3, where it is installed. LibreSSL and older versions print names in other ways. */
export const hasOpenssl =
  spawnSync('openssl', ['version'], { encoding: 'utf8' }).stdout?.startsWith('OpenSSL 3') ?? false

export interface OpensslName {
  /** Dotted. */
  readonly id: string
  readonly text: string
}

const nameOptions = ['-nameopt', 'oid,dump_all,dump_der,sep_multiline']

/** Undefined where OpenSSL rejects the bytes. */
function run(command: string, der: Uint8Array, ...options: readonly string[]): string | undefined {
  const args = [command, '-inform', 'DER', '-noout', ...options]
  const { status, stdout } = spawnSync('openssl', args, { input: der, encoding: 'latin1' })
  return status === 0 ? stdout : undefined
}

export function opensslRequest(der: Uint8Array) {
  // OpenSSL accepts an attribute without values and the point at infinity as a key, but prints neither, nor what follows.
  const text = run('req', der, '-subject', ...nameOptions, '-text', '-reqopt', 'no_attributes,no_pubkey')
  if (text === undefined) return undefined
  const altNames = /Subject Alternative Name:[^\n]*\n *([^\n]*)\n/.exec(text)?.[1]
  return { names: namesIn(text), altNames: altNames?.split(', ').toSorted() ?? [] }
}

export const opensslAccepts = (der: Uint8Array): boolean => run('req', der, '-verify') !== undefined

export function opensslSubjectKeyId(der: Uint8Array): string | undefined {
  const text = run('x509', der, '-ext', 'subjectKeyIdentifier') ?? ''
  return /^ +([\dA-F:]+)$/m.exec(text)?.[1]?.replaceAll(':', '').toLowerCase()
}

/** `2.5.4.3=#0C046A616E65`: values are printed as DER, so that none is ambiguous. */
function namesIn(text: string): OpensslName[] {
  const lines = text.split('\n').filter((line) => /^ {4}[\d.]+=#/.test(line))
  return lines
    .flatMap((line) => [...line.matchAll(/([\d.]+)=#([\dA-F]+)/g)])
    .map(([, id = '', hex = '']) => {
      const { tag, content } = new DerReader(Uint8Array.fromHex(hex)).any()
      return { id, text: new TextDecoder(tag === 0x1e ? 'utf-16be' : 'utf-8').decode(content) }
    })
}

interface Tree {
  tag: number
  content: Uint8Array | Tree[]
}

function treeOf(bytes: Uint8Array): Tree[] {
  return new DerReader(bytes)
    .rest((reader) => reader.any())
    .map(({ tag, content }) => ({ tag, content: (tag & 0x20) === 0 ? content : treeOf(content) }))
}

const allOf = (trees: readonly Tree[]): Tree[] =>
  trees.flatMap((tree) => [tree, ...(tree.content instanceof Uint8Array ? [] : allOf(tree.content))])

const tags = [
  0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x0c, 0x13, 0x14, 0x16, 0x17, 0x18, 0x1e, 0x30, 0x31, 0x80, 0x82, 0xa0, 0xa3,
]

/** The encoding with a few edits of its elements; lengths fit, but may be written in other ways than DER's. */
export function mutatedDer(bytes: Uint8Array, random: Random): Uint8Array {
  const trees = treeOf(bytes)
  let isOddLength = false
  for (let edits = 1 + random.below(2); edits > 0; edits--) {
    const tree = pick(random, allOf(trees))
    const { content } = tree
    switch (random.below(8)) {
      case 0:
        tree.tag = pick(random, tags)
        break
      case 1:
        isOddLength = true
        break
      case 2:
      case 3:
        if (content instanceof Uint8Array) tree.content = mutatedBytes(content, random)
        else if (content.length > 0) content.splice(random.below(content.length), 1)
        break
      case 4:
        if (!(content instanceof Uint8Array) && content.length > 0) content.push(pick(random, content))
        break
      case 5:
        if (!(content instanceof Uint8Array)) content.reverse()
        break
      case 6:
        if (content instanceof Uint8Array) tree.content = random.bytes(random.below(4))
        break
      default:
        if (!(content instanceof Uint8Array))
          content.push(
            pick(
              random,
              allOf(trees).filter(({ content: own }) => own instanceof Uint8Array),
            ),
          )
    }
  }
  const encoded = encodeTrees(trees, isOddLength ? random : undefined)
  return random.below(20) === 0 ? Buffer.concat([encoded, random.bytes(1 + random.below(3))]) : encoded
}

function encodeTrees(trees: readonly Tree[], odd: Random | undefined): Uint8Array {
  return Buffer.concat(
    trees.map(({ tag, content }) => {
      const bytes = content instanceof Uint8Array ? content : encodeTrees(content, odd)
      return Buffer.concat([Uint8Array.of(tag), lengthOf(bytes.length, odd), bytes])
    }),
  )
}

function lengthOf(length: number, odd: Random | undefined): Uint8Array {
  const hex = length.toString(16)
  const minimal = Uint8Array.fromHex(hex.length % 2 === 0 ? hex : `0${hex}`)
  if (odd !== undefined && odd.below(10) === 0) return Uint8Array.of(0x82 + minimal.length, 0, 0, ...minimal)
  return length < 0x80 ? Uint8Array.of(length) : Uint8Array.of(0x80 | minimal.length, ...minimal)
}

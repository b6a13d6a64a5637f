// The types that certificates and certificate requests have in common, read from DER (RFC 5280).
import { lookup } from '../base/collections/lookup.ts'
import { checkDer } from './der-check.ts'
import { derTag, DerError, DerReader, type DerElement } from './der-reader.ts'

export interface SignedDer {
  /** What is signed. */
  readonly body: DerElement
  readonly algorithm: AlgorithmIdentifier
  readonly signature: Uint8Array
}

export interface AlgorithmIdentifier {
  /** Content of the OBJECT IDENTIFIER, in hexadecimal digits. */
  readonly id: string
  /** The tag of the parameters, where there are some. */
  readonly parametersTag: number | undefined
  readonly encoded: Uint8Array
}

export interface NameAttribute {
  /** Content of the OBJECT IDENTIFIER, in hexadecimal digits. */
  readonly id: string
  readonly value: string
}

export interface Extension {
  /** Content of the OBJECT IDENTIFIER, in hexadecimal digits. */
  readonly id: string
  /** DER of the extension's own type. */
  readonly value: Uint8Array
}

/** SIGNED: a certificate, or a certificate request. Nothing follows it. */
export function readSigned(bytes: Uint8Array, what: string): SignedDer {
  checkDer(bytes)
  const whole = new DerReader(bytes)
  const reader = whole.inside(derTag.sequence, what)
  whole.end(what)
  const body = reader.element(derTag.sequence, what)
  const algorithm = readAlgorithm(reader)
  const signature = readBytes(reader.element(derTag.bitString, 'the signature'))
  reader.end(what)
  return { body, algorithm, signature }
}

export function readAlgorithm(outer: DerReader): AlgorithmIdentifier {
  const { content, encoded } = outer.element(derTag.sequence, 'the algorithm')
  const reader = new DerReader(content)
  const id = readObjectId(reader)
  const parametersTag = reader.isAtEnd ? undefined : reader.any().tag
  if (!parametersTags.has(parametersTag)) throw new DerError('the algorithm has unknown parameters')
  reader.end('the algorithm')
  return { id, parametersTag, encoded }
}

const parametersTags: ReadonlySet<number | undefined> = new Set([
  undefined,
  derTag.null,
  derTag.objectIdentifier,
  derTag.sequence,
])

export const readObjectId = (reader: DerReader): string =>
  reader.element(derTag.objectIdentifier, 'the object identifier').content.toHex()

const rsaId = '2a864886f70d010101'

/** As upstream: an RSA key has NULL parameters, an EC key names its curve. */
const keyParametersTags: Readonly<Record<string, number>> = {
  [rsaId]: derTag.null,
  '2a8648ce3d0201': derTag.objectIdentifier,
}

/** SubjectPublicKeyInfo, whole. */
export function readPublicKey(outer: DerReader): Uint8Array {
  const { content, encoded } = outer.element(derTag.sequence, 'the public key')
  const reader = new DerReader(content)
  const { id, parametersTag } = readAlgorithm(reader)
  if (parametersTag !== (lookup(keyParametersTags, id) ?? parametersTag))
    throw new DerError('the public key has unknown parameters')
  const key = readBytes(reader.element(derTag.bitString, 'the public key'))
  reader.end('the public key')
  if (id === rsaId) checkRsaKey(key)
  return encoded
}

/** RSAPublicKey: modulus and exponent, both positive. */
function checkRsaKey(bytes: Uint8Array): void {
  checkDer(bytes)
  const whole = new DerReader(bytes)
  const reader = whole.inside(derTag.sequence, 'the RSA key')
  whole.end('the RSA key')
  for (const what of ['the modulus', 'the exponent']) {
    const [first = 0] = reader.element(derTag.integer, what).content
    if (first >= 0x80) throw new DerError(`${what} is negative`)
  }
  reader.end('the RSA key')
}

/** A BIT STRING that is made of whole bytes. */
function readBytes({ content }: DerElement): Uint8Array {
  if (content[0] !== 0) throw new DerError('a bit string is not made of bytes')
  return content.subarray(1)
}

export function readName(name: DerElement): NameAttribute[] {
  return new DerReader(name.content)
    .rest((reader) => reader.inside(derTag.set, 'a part of the name'))
    .flatMap((set) => {
      if (set.isAtEnd) throw new DerError('a part of the name is empty')
      return set.rest((reader) => readNameAttribute(reader.inside(derTag.sequence, 'an attribute of the name')))
    })
}

function readNameAttribute(reader: DerReader): NameAttribute {
  const id = readObjectId(reader)
  const value = readText(reader.any())
  reader.end('an attribute of the name')
  return { id, value }
}

const printable = /^[\dA-Za-z '()+,\-./:=?*&]*$/
// eslint-disable-next-line no-control-regex
const ascii = /^[\0-\x7f]*$/
const surrogate = /[\ud800-\udfff]/

/** Text of the types that names are written in; every implementation agrees on what it means. */
function readText({ tag, content }: DerElement): string {
  const decoded = (encoding: string): string => {
    try {
      return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(content)
    } catch (error) {
      throw new DerError('a name is not text', { cause: error })
    }
  }
  const checked = (text: string, pattern: RegExp, isExpected: boolean): string => {
    if (pattern.test(text) !== isExpected) throw new DerError('a name has characters that its type does not allow')
    return text
  }
  switch (tag) {
    case derTag.utf8String:
      return decoded('utf-8')
    case derTag.printableString:
      return checked(decoded('utf-8'), printable, true)
    case derTag.ia5String:
    case derTag.t61String:
      return checked(decoded('utf-8'), ascii, true)
    case derTag.bmpString:
      return checked(decoded('utf-16be'), surrogate, false)
    default:
      throw new DerError(`a name has a value of the type 0x${tag.toString(16)}`)
  }
}

/** The content of a SEQUENCE OF Extension. */
export function readExtensions(outer: DerReader): Extension[] {
  const extensions = outer.rest((reader) => readExtension(reader.inside(derTag.sequence, 'an extension')))
  if (new Set(extensions.map(({ id }) => id)).size !== extensions.length)
    throw new DerError('an extension is there twice')
  return extensions
}

function readExtension(reader: DerReader): Extension {
  const id = readObjectId(reader)
  reader.optional(derTag.boolean) // whether it is critical
  const { content: value } = reader.element(derTag.octetString, 'the value of an extension')
  reader.end('an extension')
  return { id, value }
}

// Reads of a certificate signing request (PKCS 10) what it asks for, and whether who asks has the key.
import { lookup } from '../base/collections/lookup.ts'
import type { X509Digest, CryptoProvider } from '../platform/crypto/crypto.ts'
import { encodeNameAttributes, type AltNames, type Subject } from './certificate.ts'
import { readElements, type DerElement } from './parse-certificate.ts'
import { decodePem } from './pem.ts'

export interface RequestedCertificate {
  readonly subject: Subject
  /** DER of the name that the certificate carries: the subject with one common name, and without what is unknown. */
  readonly name: Uint8Array
  /** DER, SubjectPublicKeyInfo. */
  readonly publicKey: Uint8Array
  readonly altNames: AltNames
}

const commonNameId = '550403'
const organizationId = '55040a'

/** Attributes of a name that certificates carry on, by their ids as bytes. */
const nameIds: Readonly<Record<string, string>> = {
  [commonNameId]: '2.5.4.3',
  '550405': '2.5.4.5', // serial number
  '550406': '2.5.4.6', // country
  '550407': '2.5.4.7', // locality
  '550408': '2.5.4.8', // province
  '550409': '2.5.4.9', // street
  [organizationId]: '2.5.4.10',
  '55040b': '2.5.4.11', // organizational unit
  '550411': '2.5.4.17', // postal code
}

const extensionRequestId = '2a864886f70d01090e'
const altNamesId = '551d11'

/** How requests may be signed, by the id of the algorithm as bytes. */
const digests: Readonly<Record<string, X509Digest | 'none'>> = {
  '2a8648ce3d040302': 'sha256',
  '2a8648ce3d040303': 'sha384',
  '2a8648ce3d040304': 'sha512',
  '2a864886f70d01010b': 'sha256',
  '2a864886f70d01010c': 'sha384',
  '2a864886f70d01010d': 'sha512',
  '2b6570': 'none', // Ed25519
}

/** Throws what is wrong with the request. */
export function parseCertificateRequest(pem: string): RequestedCertificate {
  const { subject, key, attributes } = infoOf(pem)
  const named = attributesOf(subject)
  const last = named.findLastIndex(([id]) => id === commonNameId)
  const kept = named.filter(
    ([id], index) => lookup(nameIds, id) !== undefined && (id !== commonNameId || index === last),
  )
  return {
    subject: subjectOf(named),
    name: encodeNameAttributes(kept.map(([id, value]) => [lookup(nameIds, id) ?? '', value])),
    publicKey: present(key, 'has no key').whole,
    altNames: altNamesOf(attributes),
  }
}

export const parseRequestSubject = (pem: string): Subject => subjectOf(attributesOf(infoOf(pem).subject))

/** Whether the request is signed with the key that it names. */
export function verifyRequestSignature(pem: string, crypto: CryptoProvider): boolean {
  const [request] = readElements(decodePem(pem))
  const [info, algorithm, signature] = readElements(present(request, 'is empty').content)
  const [id] = algorithm === undefined ? [] : readElements(algorithm.content)
  const digest = lookup(digests, id?.content.toHex() ?? '')
  if (info === undefined || signature === undefined || digest === undefined) return false
  try {
    const key = crypto.loadPublicKey(parseCertificateRequest(pem).publicKey)
    // A bit string begins with the number of bits that are not used.
    return key.verifyX509(digest === 'none' ? undefined : digest, info.whole, signature.content.subarray(1))
  } catch {
    return false
  }
}

function infoOf(pem: string) {
  const [request] = readElements(decodePem(pem))
  const [info] = readElements(present(request, 'is empty').content)
  const [, subject, key, attributes] = readElements(present(info, 'is empty').content)
  return { subject: present(subject, 'names no subject'), key, attributes }
}

type Attribute = readonly [id: string, value: string]

const attributesOf = (name: DerElement): Attribute[] =>
  readElements(name.content)
    .flatMap(({ content }) => readElements(content))
    .map(({ content }) => {
      const [id, value] = readElements(content)
      return [present(id, 'is cut off').content.toHex(), textOf(present(value, 'is cut off'))]
    })

function subjectOf(attributes: readonly Attribute[]): Subject {
  const valuesOf = (id: string) => attributes.filter(([each]) => each === id).map(([, value]) => value)
  return { commonName: valuesOf(commonNameId).at(-1) ?? '', organizations: valuesOf(organizationId) }
}

/** The kinds of text that names are written in; of others nobody could say what they mean. */
function textOf({ tag, content }: DerElement): string {
  const unknown = 'the request names its subject in unknown letters'
  if (![0x0c, 0x13, 0x14, 0x16, 0x1e].includes(tag)) throw new Error(unknown)
  try {
    return new TextDecoder(tag === 0x1e ? 'utf-16be' : 'utf-8', { fatal: true }).decode(content)
  } catch (error) {
    throw new Error(unknown, { cause: error })
  }
}

function altNamesOf(attributes: DerElement | undefined): AltNames {
  const extensions = (attributes === undefined ? [] : readElements(attributes.content))
    .map(({ content }) => readElements(content))
    .filter(([id]) => id?.content.toHex() === extensionRequestId)
    .flatMap(([, values]) => readElements(values?.content ?? new Uint8Array()))
    .flatMap(({ content }) => readElements(content))
    .map(({ content }) => readElements(content))
    .filter(([id]) => id?.content.toHex() === altNamesId)
  const names = extensions
    .flatMap((parts) => readElements(parts.at(-1)?.content ?? new Uint8Array()))
    .flatMap(({ content }) => readElements(content))
  const texts = (tag: number) => names.filter((name) => name.tag === tag).map(({ content }) => ascii(content))
  const addresses = names.filter(({ tag }) => tag === 0x87).map(({ content }) => content)
  if (addresses.some(({ length }) => length !== 4 && length !== 16))
    throw new Error('the request names an address of a wrong length')
  return { dnsNames: texts(0x82), emails: texts(0x81), uris: texts(0x86), addresses }
}

const ascii = (bytes: Uint8Array): string => {
  if (bytes.some((byte) => byte > 0x7f)) throw new Error('the request has a name that is not of ASCII')
  return new TextDecoder().decode(bytes)
}

function present(element: DerElement | undefined, what: string): DerElement {
  if (element === undefined) throw new Error(`the request ${what}`)
  return element
}

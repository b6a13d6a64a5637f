// Parses a certificate signing request (PKCS 10, RFC 2986), strictly, and verifies that it is signed with its own key.
import { lookup } from '../base/collections/lookup.ts'
import type { CryptoProvider } from '../platform/crypto/crypto.ts'
import { encodeNameAttributes, type AltNames, type Subject } from './certificate.ts'
import { checkDer, checkObjectIdentifier } from './der-check.ts'
import { derTag, DerError, DerReader, type DerElement } from './der-reader.ts'
import { decodePem } from './pem.ts'
import {
  readExtensions,
  readName,
  readObjectId,
  readPublicKey,
  readSigned,
  type Extension,
  type NameAttribute,
  type SignedDer,
} from './x509-reader.ts'
import { isSignedWith } from './x509-signature.ts'

export interface RequestedCertificate {
  readonly subject: Subject
  /** DER of the name for the certificate: the subject with one common name, and without unknown attributes. */
  readonly name: Uint8Array
  /** DER, SubjectPublicKeyInfo. */
  readonly publicKey: Uint8Array
  readonly altNames: AltNames
}

const commonNameId = '550403'
const organizationId = '55040a'

/** Attributes of a name that certificates take over, by their encoded ids. */
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
const attributesTag = 0xa0

/** Throws an Error that describes what is wrong with the request. */
export const parseCertificateRequest = (pem: string): RequestedCertificate => parseInfo(signedOf(pem).body)

export const parseRequestSubject = (pem: string): Subject => parseCertificateRequest(pem).subject

/** Whether the request is signed with the key that it names; false when it is malformed. */
export function verifyRequestSignature(pem: string, crypto: CryptoProvider): boolean {
  try {
    const signed = signedOf(pem)
    return isSignedWith(signed, parseInfo(signed.body).publicKey, crypto)
  } catch {
    return false
  }
}

const signedOf = (pem: string): SignedDer => readSigned(decodePem(pem), 'the request')

function parseInfo(info: DerElement): RequestedCertificate {
  const reader = new DerReader(info.content)
  reader.element(derTag.integer, 'the version')
  const attributes = readName(reader.element(derTag.sequence, 'the subject'))
  const publicKey = readPublicKey(reader)
  const extensions = requestedExtensions(reader.optional(attributesTag))
  reader.end('the request')
  const altNames = extensions.find(({ id }) => id === altNamesId)
  return {
    subject: subjectOf(attributes),
    name: encodeNameAttributes(certifiedAttributes(attributes)),
    publicKey,
    altNames: parseAltNames(altNames?.value),
  }
}

function subjectOf(attributes: readonly NameAttribute[]): Subject {
  const valuesOf = (id: string) => attributes.filter((each) => each.id === id).map(({ value }) => value)
  return { commonName: valuesOf(commonNameId).at(-1) ?? '', organizations: valuesOf(organizationId) }
}

/** Known attributes, and of several common names the last one. */
function certifiedAttributes(attributes: readonly NameAttribute[]): (readonly [id: string, value: string])[] {
  const last = attributes.findLastIndex(({ id }) => id === commonNameId)
  return attributes.flatMap(({ id, value }, index) => {
    const dotted = lookup(nameIds, id)
    return dotted === undefined || (id === commonNameId && index !== last) ? [] : [[dotted, value] as const]
  })
}

/** The extensions of the one attribute that requests them. */
function requestedExtensions(attributes: DerElement | undefined): Extension[] {
  if (attributes === undefined) return []
  const requests = new DerReader(attributes.content)
    .rest((reader) => reader.inside(derTag.sequence, 'an attribute'))
    .flatMap((reader) => {
      const id = readObjectId(reader)
      const values = reader.inside(derTag.set, 'the values of an attribute')
      reader.end('an attribute')
      return id === extensionRequestId ? [values] : []
    })
  if (requests.length > 1) throw new DerError('the request contains extensions twice')
  return requests.flatMap((values) => {
    const extensions = readExtensions(values.inside(derTag.sequence, 'the extensions'))
    values.end('the extensions')
    return extensions
  })
}

/** Tags of GeneralName. */
const nameTag = {
  other: 0xa0,
  email: 0x81,
  dnsName: 0x82,
  directory: 0xa4,
  uri: 0x86,
  address: 0x87,
  registeredId: 0x88,
} as const

function parseAltNames(extension: Uint8Array | undefined): AltNames {
  const names = extension === undefined ? [] : readGeneralNames(extension)
  const texts = (tag: number) => names.filter((name) => name.tag === tag).map(({ content }) => asciiText(content))
  const addresses = names.filter(({ tag }) => tag === nameTag.address).map(({ content }) => content)
  if (addresses.some(({ length }) => length !== 4 && length !== 16))
    throw new DerError('the request names an address of a wrong length')
  return { dnsNames: texts(nameTag.dnsName), emails: texts(nameTag.email), uris: texts(nameTag.uri), addresses }
}

function readGeneralNames(bytes: Uint8Array): DerElement[] {
  checkDer(bytes)
  const whole = new DerReader(bytes)
  const names = whole.inside(derTag.sequence, 'the alternative names').rest((reader) => reader.any())
  whole.end('the alternative names')
  for (const name of names) checkGeneralName(name)
  return names
}

/** Names of three kinds are checked and, as upstream does, ignored. */
function checkGeneralName({ tag, content }: DerElement): void {
  const reader = new DerReader(content)
  switch (tag) {
    case nameTag.email:
    case nameTag.dnsName:
    case nameTag.uri:
    case nameTag.address:
      return
    case nameTag.other:
      readObjectId(reader)
      reader.inside(0xa0, 'the other name').any()
      return reader.end('the other name')
    case nameTag.directory:
      readName(reader.element(derTag.sequence, 'the directory name'))
      return reader.end('the directory name')
    case nameTag.registeredId:
      return checkObjectIdentifier(content)
    default:
      throw new DerError(`an alternative name has the tag 0x${tag.toString(16)}`)
  }
}

function asciiText(bytes: Uint8Array): string {
  if (bytes.some((byte) => byte > 0x7f)) throw new DerError('the request has a name that is not ASCII')
  return new TextDecoder().decode(bytes)
}

// Parses an X.509 certificate, strictly: its validity, and the fields that certificates signed by it refer to.
import { checkBitString } from './der-check.ts'
import { derTag, DerError, DerReader, type DerElement } from './der-reader.ts'
import { decodePem } from './pem.ts'
import { readAlgorithm, readExtensions, readName, readPublicKey, readSigned } from './x509-reader.ts'

export interface ParsedCertificate {
  readonly notBeforeMs: number
  readonly notAfterMs: number
  /** DER of the subject's name. */
  readonly subject: Uint8Array
  /** DER, SubjectPublicKeyInfo. */
  readonly publicKey: Uint8Array
  /** Undefined when the certificate has none. */
  readonly subjectKeyId: Uint8Array | undefined
}

const subjectKeyIdOid = '551d0e'
/** Tags of the fields that are optional. */
const field = { version: 0xa0, issuerUniqueId: 0x81, subjectUniqueId: 0x82, extensions: 0xa3 } as const

/** Throws a DerError when it is malformed. */
export function parseCertificate(pem: string): ParsedCertificate {
  const { body, algorithm } = readSigned(decodePem(pem), 'the certificate')
  const reader = new DerReader(body.content)
  readVersion(reader.optional(field.version))
  reader.element(derTag.integer, 'the serial number')
  if (readAlgorithm(reader).encoded.toHex() !== algorithm.encoded.toHex())
    throw new DerError('the certificate names two signature algorithms')
  readName(reader.element(derTag.sequence, 'the issuer'))
  const validity = reader.inside(derTag.sequence, 'the validity')
  const notBeforeMs = timeMs(validity.any())
  const notAfterMs = timeMs(validity.any())
  validity.end('the validity')
  const subject = reader.element(derTag.sequence, 'the subject')
  readName(subject)
  const publicKey = readPublicKey(reader)
  for (const tag of [field.issuerUniqueId, field.subjectUniqueId]) {
    const uniqueId = reader.optional(tag)
    if (uniqueId !== undefined) checkBitString(uniqueId.content)
  }
  const subjectKeyId = readSubjectKeyId(reader.optional(field.extensions))
  reader.end('the certificate')
  return { notBeforeMs, notAfterMs, subject: subject.encoded, publicKey, subjectKeyId }
}

function readVersion(version: DerElement | undefined): void {
  if (version === undefined) return
  const reader = new DerReader(version.content)
  const [value = 0] = reader.element(derTag.integer, 'the version').content
  reader.end('the version')
  if (value > 2) throw new DerError('the certificate is of an unknown version')
}

function readSubjectKeyId(wrapped: DerElement | undefined): Uint8Array | undefined {
  if (wrapped === undefined) return undefined
  const outer = new DerReader(wrapped.content)
  const extensions = readExtensions(outer.inside(derTag.sequence, 'the extensions'))
  outer.end('the extensions')
  const found = extensions.find(({ id }) => id === subjectKeyIdOid)
  if (found === undefined) return undefined
  const reader = new DerReader(found.value)
  const { content } = reader.element(derTag.octetString, 'the key identifier')
  reader.end('the key identifier')
  return content
}

/** UTCTime has two digits of the year, GeneralizedTime four; both are in UTC and have seconds (RFC 5280, 4.1.2.5). */
function timeMs({ tag, content }: DerElement): number {
  if (tag !== derTag.utcTime && tag !== derTag.generalizedTime) throw new DerError('a time is of another type')
  const text = new TextDecoder().decode(content)
  const digits = tag === derTag.utcTime ? `${Number(text.slice(0, 2)) < 50 ? '20' : '19'}${text}` : text
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(digits) ?? []
  const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}.000Z`
  const ms = Date.parse(iso)
  // A day that the month does not have is another day for Date.
  if (Number.isNaN(ms) || new Date(ms).toISOString() !== iso) throw new DerError('a time is malformed')
  return ms
}

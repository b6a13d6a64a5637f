// Reads of a certificate what its holder must know: how long it is good, and how to name it as an issuer.
import { decodePem } from './pem.ts'

export interface ParsedCertificate {
  readonly notBeforeMs: number
  readonly notAfterMs: number
  /** DER of the subject's name. */
  readonly subject: Uint8Array
  /** DER, SubjectPublicKeyInfo. */
  readonly publicKey: Uint8Array
  /** Undefined when the certificate names none. */
  readonly subjectKeyId: Uint8Array | undefined
}

export interface DerElement {
  readonly tag: number
  readonly content: Uint8Array
  /** Tag and length included. */
  readonly whole: Uint8Array
}

const subjectKeyIdOid = '551d0e'

export function parseCertificate(pem: string): ParsedCertificate {
  const [certificate] = readElements(decodePem(pem))
  const [body] = readElements(present(certificate).content)
  const fields = readElements(present(body).content)
  // The version stands in front of the rest unless it is the first.
  const [, , , validity, subject, publicKey] = fields[0]?.tag === 0xa0 ? fields.slice(1) : fields
  const [notBefore, notAfter] = readElements(present(validity).content)
  return {
    notBeforeMs: timeMs(present(notBefore)),
    notAfterMs: timeMs(present(notAfter)),
    subject: present(subject).whole,
    publicKey: present(publicKey).whole,
    subjectKeyId: subjectKeyId(fields.find(({ tag }) => tag === 0xa3)),
  }
}

function subjectKeyId(extensions: DerElement | undefined): Uint8Array | undefined {
  const [list] = extensions === undefined ? [] : readElements(extensions.content)
  for (const extension of list === undefined ? [] : readElements(list.content)) {
    const [id, ...rest] = readElements(extension.content)
    const [value] = id?.content.toHex() === subjectKeyIdOid ? readElements(present(rest.at(-1)).content) : []
    if (value !== undefined) return value.content
  }
  return undefined
}

/** UTCTime has two digits of the year, GeneralizedTime four. */
function timeMs({ tag, content }: DerElement): number {
  const text = new TextDecoder().decode(content)
  const digits = tag === 0x17 ? `${Number(text.slice(0, 2)) < 50 ? '20' : '19'}${text}` : text
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(digits)?.map(Number) ?? []
  return Date.UTC(year ?? NaN, (month ?? NaN) - 1, day, hour, minute, second)
}

/** The parts of a DER sequence. */
export function readElements(bytes: Uint8Array): DerElement[] {
  const found: DerElement[] = []
  for (let at = 0; at < bytes.length;) {
    const first = bytes[at + 1] ?? 0
    const sizeBytes = first < 0x80 ? 0 : first & 0x7f
    let length = sizeBytes === 0 ? first : 0
    for (let index = 0; index < sizeBytes; index++) length = length * 256 + (bytes[at + 2 + index] ?? 0)
    const start = at + 2 + sizeBytes
    if (start + length > bytes.length) throw new Error('the certificate is cut off')
    found.push({
      tag: bytes[at] ?? 0,
      content: bytes.subarray(start, start + length),
      whole: bytes.subarray(at, start + length),
    })
    at = start + length
  }
  return found
}

function present(element: DerElement | undefined): DerElement {
  if (element === undefined) throw new Error('the certificate lacks a part')
  return element
}

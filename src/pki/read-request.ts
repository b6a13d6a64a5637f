// Reads of a certificate signing request for whom the certificate is to be.
import { elements } from './read-certificate.ts'
import { pemContent } from './pem.ts'

export interface RequestSubject {
  readonly commonName: string
  readonly organizations: readonly string[]
}

const commonNameOid = '550403'
const organizationOid = '55040a'

export function readRequestSubject(pem: string): RequestSubject {
  const [request] = elements(pemContent(pem))
  const [info] = elements(request?.content ?? new Uint8Array())
  const [, subject] = elements(info?.content ?? new Uint8Array())
  if (subject === undefined) throw new Error('the request names no subject')
  const attributes = elements(subject.content)
    .flatMap(({ content }) => elements(content))
    .map(({ content }) => elements(content))
  const valuesOf = (oid: string) =>
    attributes
      .filter(([id]) => id?.content.toHex() === oid)
      .map(([, value]) => new TextDecoder().decode(value?.content))
  return { commonName: valuesOf(commonNameOid).at(-1) ?? '', organizations: valuesOf(organizationOid) }
}

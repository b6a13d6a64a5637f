// CertificateFile: a certificate and its private key in one PEM file, named as upstream's kubelet names it:
// `kubelet-client-current.pem`.
import type { Identity } from '../../pki/authority.ts'
import type { Files } from '../../platform/files.ts'

export class CertificateFile {
  readonly path: string
  readonly #files: Pick<Files, 'read' | 'write'>

  constructor(path: string, files: Pick<Files, 'read' | 'write'>) {
    this.path = path
    this.#files = files
  }

  /** Undefined when the file is missing or incomplete. */
  async read(): Promise<Identity | undefined> {
    const content = await this.#files.read(this.path)
    return content && identityOf(new TextDecoder().decode(content))
  }

  /** Replaces the file atomically; only its owner can read it. */
  write({ certificate, key }: Identity): Promise<void> {
    return this.#files.write(this.path, `${certificate.trimEnd()}\n${key.trimEnd()}\n`)
  }
}

// linear: only the kubelet writes the file.
const block = (label: string): RegExp => new RegExp(`-----BEGIN ${label}-----[^-]+-----END ${label}-----`, 'g')

function identityOf(text: string): Identity | undefined {
  const certificates = text.match(block('CERTIFICATE')) ?? []
  const [key] = text.match(block('[A-Z ]*PRIVATE KEY')) ?? []
  if (certificates.length === 0 || key === undefined) return undefined
  return { certificate: `${certificates.join('\n')}\n`, key: `${key}\n` }
}

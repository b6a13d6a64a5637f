// Keys and certificates from files that the user names, in place of those that a cluster creates: upstream's model, where
// authorities and keys are made by another program.
import type { CryptoProvider, KeyPair, PublicKey } from '../../platform/crypto/crypto.ts'
import type { Files } from '../../platform/files.ts'
import type { Identity } from '../../pki/authority.ts'
import { parseCertificate } from '../../pki/parse-certificate.ts'
import { pemBlocks } from '../../pki/pem.ts'
import { readText } from '../flags/webhook-connection.ts'
import type { ClusterCertificates } from './cluster-certificates.ts'

/** Paths of PEM files, by the flag that names them. */
export interface CertificateFiles {
  readonly 'client-ca-file'?: string | undefined
  readonly 'tls-cert-file'?: string | undefined
  readonly 'tls-private-key-file'?: string | undefined
  readonly 'kubelet-client-certificate'?: string | undefined
  readonly 'kubelet-client-key'?: string | undefined
  readonly 'service-account-signing-key-file'?: string | undefined
  /** Separated by commas. */
  readonly 'service-account-key-file'?: string | undefined
}

type CertificateFlag = keyof CertificateFiles

export interface GivenCertificates {
  /** Signs the certificates of clients. */
  readonly authority: string | undefined
  readonly serving: Identity | undefined
  readonly kubeletClient: Identity | undefined
  /** Signs ServiceAccount tokens. */
  readonly accountKey: KeyPair | undefined
  /** Further keys whose ServiceAccount tokens are accepted. */
  readonly accountKeys: readonly PublicKey[]
}

/** Labels of the blocks that contain a public key. */
const publicKeyLabels = [
  'CERTIFICATE',
  'PUBLIC KEY',
  'RSA PUBLIC KEY',
  'PRIVATE KEY',
  'EC PRIVATE KEY',
  'RSA PRIVATE KEY',
]

/** Throws an error that names the flag whose file cannot be used. */
export async function readGivenCertificates(
  flags: CertificateFiles,
  files: Files,
  crypto: CryptoProvider,
): Promise<GivenCertificates> {
  const read = async (flag: CertificateFlag): Promise<string | undefined> => {
    const { [flag]: path } = flags
    return path === undefined ? undefined : readText(path, files)
  }
  const pair = async (certificateFlag: CertificateFlag, keyFlag: CertificateFlag): Promise<Identity | undefined> => {
    const [certificate, key] = await Promise.all([read(certificateFlag), read(keyFlag)])
    if (certificate === undefined && key === undefined) return undefined
    if (certificate === undefined || key === undefined)
      throw new Error(`--${certificateFlag} and --${keyFlag} must be set together`)
    const of = <T>(flag: CertificateFlag, what: string, parse: () => T) => parsed(flags, flag, what, parse)
    const { publicKey } = of(certificateFlag, 'certificate', () => parseCertificate(certificate))
    const own = of(keyFlag, 'private key', () => crypto.loadKey(key))
    if (!crypto.timingSafeEqual(own.publicKey, publicKey))
      throw new Error(`--${keyFlag} ${flags[keyFlag]} is not the key of --${certificateFlag} ${flags[certificateFlag]}`)
    return { certificate, key }
  }
  const authority = await read('client-ca-file')
  if (authority !== undefined) parsed(flags, 'client-ca-file', 'certificate', () => parseCertificate(authority))
  const signing = await read('service-account-signing-key-file')
  const accountKeyFiles = (flags['service-account-key-file'] ?? '').split(',').filter((path) => path !== '')
  const accountKeys = await Promise.all(accountKeyFiles.map((path) => publicKeysIn(path, files, crypto)))
  return {
    authority,
    serving: await pair('tls-cert-file', 'tls-private-key-file'),
    kubeletClient: await pair('kubelet-client-certificate', 'kubelet-client-key'),
    accountKey:
      signing === undefined
        ? undefined
        : parsed(flags, 'service-account-signing-key-file', 'private key', () => crypto.loadKey(signing)),
    accountKeys: accountKeys.flat(),
  }
}

async function publicKeysIn(path: string, files: Files, crypto: CryptoProvider): Promise<readonly PublicKey[]> {
  const blocks = pemBlocks(await readText(path, files), ...publicKeyLabels)
  try {
    if (blocks.length > 0) return blocks.map((block) => crypto.loadPublicKey(block))
  } catch (cause) {
    throw new Error(`--service-account-key-file ${path} holds a key that cannot be read`, { cause })
  }
  throw new Error(`--service-account-key-file ${path} holds no key or certificate in PEM`)
}

function parsed<T>(flags: CertificateFiles, flag: CertificateFlag, what: string, parse: () => T): T {
  try {
    return parse()
  } catch (cause) {
    throw new Error(`--${flag} ${flags[flag]} holds no ${what} in PEM`, { cause })
  }
}

export const withGiven = (own: ClusterCertificates, given: GivenCertificates | undefined): ClusterCertificates =>
  given === undefined
    ? own
    : {
        ...own,
        authority: given.authority ?? own.authority,
        serving: given.serving ?? own.serving,
        accountKey: given.accountKey ?? own.accountKey,
        oldAccountKeys: [...(given.accountKey === undefined ? own.oldAccountKeys : []), ...given.accountKeys],
        components: {
          ...own.components,
          'apiserver-kubelet-client': given.kubeletClient ?? own.components['apiserver-kubelet-client'],
        },
      }

// EncryptionConfig: which resources are encrypted with which keys. The first cipher of a rule encrypts; all of them
// decrypt.
import type { Kind } from '../../api/kind/kind.ts'
import type { ConfigReader } from '../config/config-reader.ts'
import { secretboxKeyBytes } from '../../platform/crypto/secretbox.ts'
import { kmsOptions } from './kms/kms-options.ts'
import { KmsProvider, type KmsDeps } from './kms/kms-provider.ts'
import {
  cipherKinds,
  identity,
  valueCipher,
  type CipherKind,
  type CipherDeps,
  type ValueCipher,
} from './ciphers/value-cipher.ts'

export type CipherProviderDeps = CipherDeps & KmsDeps

export interface EncryptionRule {
  /** `secrets`, `deployments.apps`, `*.apps`, `*.` (the core group), `*.*` */
  readonly resources: readonly string[]
  readonly ciphers: readonly [ValueCipher, ...ValueCipher[]]
}

/** The rules of an EncryptionConfiguration of apiserver.config.k8s.io/v1. */
export function encryptionConfig(file: ConfigReader, deps: CipherProviderDeps): readonly EncryptionRule[] {
  file.oneOf('apiVersion', ['apiserver.config.k8s.io/v1'])
  file.oneOf('kind', ['EncryptionConfiguration'])
  const kmsNames = new Set<string>()
  const rules = file.objects('resources').map((rule) => {
    const resources = rule.strings('resources')
    const [first, ...others] = rule.objects('providers').flatMap((provider) => ciphersOf(provider, kmsNames, deps))
    rule.rejectUnknownFields()
    if (resources.length === 0) throw rule.error('resources', 'must not be empty')
    if (first === undefined) throw rule.error('providers', 'must not be empty')
    for (const resource of resources)
      if (resource === '*' || resource === '')
        throw rule.error('resources', "use '*.' for the core group, '*.*' for all")
    return { resources, ciphers: [first, ...others] as const }
  })
  file.rejectUnknownFields()
  if (rules.length === 0) throw file.error('resources', 'must not be empty')
  return rules
}

/** The KMS providers of all rules. Their names are unique. */
export const kmsProvidersOf = (rules: readonly EncryptionRule[]): readonly KmsProvider[] =>
  rules.flatMap(({ ciphers }) => ciphers.filter((cipher) => cipher instanceof KmsProvider))

function ciphersOf(provider: ConfigReader, kmsNames: Set<string>, deps: CipherProviderDeps): ValueCipher[] {
  const found: ValueCipher[][] = []
  const kms = provider.object('kms')
  if (kms !== undefined) {
    const options = kmsOptions(kms, kmsNames)
    kmsNames.add(options.name)
    found.push([new KmsProvider(options, deps)])
  }
  if (provider.object('identity') !== undefined) found.push([identity])
  for (const kind of cipherKinds) {
    const section = provider.object(kind)
    if (section === undefined) continue
    const keys = section.objects('keys').map((key) => {
      const name = key.string('name')
      const secret = secretOf(key, kind)
      key.rejectUnknownFields()
      if (name === '' || name.includes(':')) throw key.error('name', 'must not be empty nor contain a colon')
      return valueCipher(kind, name, secret, deps)
    })
    section.rejectUnknownFields()
    if (keys.length === 0) throw section.error('keys', 'must not be empty')
    found.push(keys)
  }
  provider.rejectUnknownFields()
  const [only, ...more] = found
  if (only === undefined || more.length > 0) throw provider.error('', 'must name exactly one provider')
  return only
}

const aesBytes: readonly number[] = [16, 24, 32]

/** Error messages do not contain the secret. */
function secretOf(key: ConfigReader, kind: CipherKind): Uint8Array {
  const text = key.string('secret')
  let secret: Uint8Array
  try {
    secret = Uint8Array.fromBase64(text)
  } catch {
    throw key.error('secret', 'must be encoded in base64')
  }
  const isBox = kind === 'secretbox'
  if (isBox ? secret.length !== secretboxKeyBytes : !aesBytes.includes(secret.length))
    throw key.error('secret', `must have ${isBox ? '' : '16, 24 or '}32 bytes and has ${secret.length}`)
  return secret
}

type ResourceName = Pick<Kind, 'plural' | 'group'>

/** Whether `resources` of a rule, such as `secrets` or `*.apps`, contains the kind. */
export function ruleIncludes(resources: readonly string[], { plural, group }: ResourceName): boolean {
  const names = [group === '' ? plural : `${plural}.${group}`, `*.${group}`, '*.*']
  return resources.some((name) => names.includes(name))
}

/** The ciphers of the first rule that includes the kind. */
export const ciphersFor = (
  rules: readonly EncryptionRule[],
  kind: ResourceName,
): readonly [ValueCipher, ...ValueCipher[]] =>
  rules.find(({ resources }) => ruleIncludes(resources, kind))?.ciphers ?? [identity]

// The keys in an EncryptionConfiguration: how they are replaced, without changing anything else in it. In each rule these are the keys of
// the first provider, which encrypts. Keys of KMS plugins are replaced by the plugins.
import { lookup } from '../../base/collections/lookup.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../schema/json/json-value.ts'
import { cipherKinds } from '../../apiserver/encryption/ciphers/value-cipher.ts'

const keysMax = 8

export interface NewKey {
  readonly name: string
  readonly secret: Uint8Array
}

const keyOf = ({ name, secret }: NewKey): JsonObject => ({ name, secret: secret.toBase64() })

/** The configuration of a cluster in which nothing was encrypted: Secrets that others encrypt can be read. */
export const configOfSecrets = (key: NewKey): JsonObject => ({
  apiVersion: 'apiserver.config.k8s.io/v1',
  kind: 'EncryptionConfiguration',
  resources: [{ resources: ['secrets'], providers: [{ identity: {} }, { secretbox: { keys: [keyOf(key)] } }] }],
})

/** Encrypts with the keys that only decrypted. What is not encrypted can still be read. */
export const withEncryption = (config: JsonObject): JsonObject =>
  withProviders(config, ([first, second, ...others]) =>
    isJsonObject(first) && first['identity'] !== undefined && keysIn(second) !== undefined
      ? [second, first, ...others]
      : undefined,
  )

/** The resources that are encrypted with keys of the configuration: `secrets`, `*.apps`. */
export const encryptedResources = (config: JsonObject): readonly string[] =>
  listIn(config, 'resources').flatMap((rule) =>
    keysIn(listIn(rule, 'providers')[0]) === undefined ? [] : listIn(rule, 'resources').map(String),
  )

/** With a further key, which only decrypts. */
export const withKey = (config: JsonObject, key: NewKey): JsonObject =>
  withKeys(config, (keys) => {
    if (keys.length < keysMax) return [...keys, keyOf(key)]
    throw new Error(
      `objects may be encrypted with ${keysMax} keys; retire the earlier ones first: coxswain rotate encryption-key --retire`,
    )
  })

/** With the last key as the first one, which encrypts. */
export const withLastFirst = (config: JsonObject): JsonObject =>
  withKeys(config, (keys) => [...keys.slice(-1), ...keys.slice(0, -1)])

/** With the keys that encrypt, and no others. */
export const withFirstOnly = (config: JsonObject): JsonObject => withKeys(config, (keys) => keys.slice(0, 1))

/** How many keys only decrypt. */
export const earlierKeys = (config: JsonObject): number =>
  Math.max(
    0,
    ...listIn(config, 'resources').map((rule) => (keysIn(listIn(rule, 'providers')[0])?.keys.length ?? 1) - 1),
  )

const withKeys = (config: JsonObject, next: (keys: readonly JsonValue[]) => readonly JsonValue[]): JsonObject =>
  withProviders(config, ([first, ...others]) => {
    const own = keysIn(first)
    return own && [{ [own.kind]: { keys: next(own.keys) } as JsonObject }, ...others]
  })

/** Rules for which `next` returns undefined stay as they are. */
function withProviders(
  config: JsonObject,
  next: (providers: readonly JsonValue[]) => readonly (JsonValue | undefined)[] | undefined,
): JsonObject {
  const resources = listIn(config, 'resources').map((rule) => {
    const providers = next(listIn(rule, 'providers'))
    return isJsonObject(rule) && providers !== undefined ? { ...rule, providers } : rule
  })
  return { ...config, resources } as JsonObject
}

/** Undefined for KMS plugins, and where nothing is encrypted. */
function keysIn(
  provider: JsonValue | undefined,
): { readonly kind: string; readonly keys: readonly JsonValue[] } | undefined {
  if (!isJsonObject(provider)) return undefined
  const kind = cipherKinds.find((each) => provider[each] !== undefined)
  return kind && { kind, keys: listIn(provider[kind], 'keys') }
}

function listIn(value: JsonValue | undefined, name: string): readonly JsonValue[] {
  const list = isJsonObject(value) ? lookup(value, name) : undefined
  return Array.isArray(list) ? (list as readonly JsonValue[]) : []
}

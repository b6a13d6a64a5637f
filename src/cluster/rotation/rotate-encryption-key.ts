// The rotation of the key that encrypts objects at rest. All servers can decrypt with the new key before any encrypts with it. Then every
// object is stored again. Earlier keys can decrypt until they are retired. Where nothing was encrypted, Secrets are afterwards.
import { context } from '../../base/observability/context.ts'
import { lookup } from '../../base/collections/lookup.ts'
import { isJsonObject, type JsonObject } from '../../schema/json/json-value.ts'
import { yamlText } from '../../schema/yaml/yaml-text.ts'
import { machineOf } from '../bootstrap/server-identity.ts'
import { encryptionConfigFile } from '../policy/encryption-at-rest.ts'
import { distributeFiles, runningServers } from './distribute-files.ts'
import {
  configOfSecrets,
  earlierKeys,
  encryptedResources,
  withEncryption,
  withFirstOnly,
  withKey,
  withLastFirst,
} from './encryption-keys.ts'
import { rewriteObjects, type Rewritten } from './rewrite-objects.ts'
import { authorityKeyOf, currentFiles, type RotateDeps } from './rotate-deps.ts'

/** In the Lease of a server whose encryption configuration is that of its data directory. */
export const managedEncryptionAnnotation = 'coxswain.dev/managed-encryption'

const keyBytes = 32
const nameBytes = 4
const failuresShown = 5

export interface EncryptionRotateDeps extends RotateDeps {
  readonly parseYaml: (text: string) => unknown
}

export interface RotatedEncryption extends Rewritten {
  /** Nothing was encrypted before. */
  readonly isFirst: boolean
}

export async function rotateEncryptionKey(deps: EncryptionRotateDeps, signal: AbortSignal): Promise<RotatedEncryption> {
  const { clock, random, onProgress } = deps
  const current = await managedConfig(deps, signal)
  const isFirst = current === undefined || encryptedResources(current).length === 0
  // Its name marks what it encrypts, so it is never that of another key.
  const name = `key-${Math.floor(clock.nowMs() / 1000)}-${random.bytes(nameBytes).toHex()}`
  const key = { name, secret: random.bytes(keyBytes) }
  const readable = current === undefined ? configOfSecrets(key) : isFirst ? current : withKey(current, key)
  const next = isFirst ? withEncryption(readable) : withLastFirst(readable)
  if (encryptedResources(next).length === 0)
    throw new Error('the encryption configuration has no key that could be replaced: KMS plugins replace their own')
  onProgress('waiting until all servers can decrypt with the new key')
  await distribute(readable, deps, signal)
  onProgress('waiting until all servers encrypt with the new key')
  await distribute(next, deps, signal)
  return { isFirst, ...(await rewrite(next, deps, signal)) }
}

/** Earlier keys cannot decrypt any more. Throws if an object may need them, unless `force` is set. Returns how many there were. */
export async function retireEncryptionKeys(
  { force, ...deps }: EncryptionRotateDeps & { readonly force: boolean },
  signal: AbortSignal,
): Promise<number> {
  const config = await managedConfig(deps, signal)
  const count = config === undefined ? 0 : earlierKeys(config)
  if (config === undefined || count === 0) return 0
  const { failures } = await rewrite(config, deps, signal)
  if (failures.length > 0 && !force)
    throw new Error(
      `${failuresText(failures)}. With --force they can no longer be read if an earlier key encrypts them`,
    )
  deps.onProgress('waiting until no server can decrypt with earlier keys')
  await distribute(withFirstOnly(config), deps, signal)
  return count
}

export function failuresText(failures: readonly string[]): string {
  const more = failures.length > failuresShown ? ` and ${failures.length - failuresShown} more` : ''
  return `these objects could not be stored again: ${failures.slice(0, failuresShown).join('; ')}${more}`
}

/** Undefined where nothing is encrypted. Throws if a server has another configuration. */
async function managedConfig(deps: EncryptionRotateDeps, signal: AbortSignal): Promise<JsonObject | undefined> {
  const { parseYaml } = deps
  const leases = await runningServers(deps, signal)
  const others = leases.filter(({ metadata }) => lookup(metadata.annotations, managedEncryptionAnnotation) !== 'true')
  if (others.length > 0)
    throw new Error(
      `the encryption configuration on ${others.map(machineOf).join(', ')} is the file that --encryption-provider-config names: replace its keys there`,
    )
  const { files } = await currentFiles(deps, signal)
  const text = lookup(files, encryptionConfigFile)
  if (text === undefined) return undefined
  const config = parseYaml(text)
  if (!isJsonObject(config)) throw new Error(`${encryptionConfigFile} must be an object`)
  return config
}

const distribute = (config: JsonObject, deps: RotateDeps, signal: AbortSignal): Promise<void> =>
  distributeFiles(
    () => ({ [encryptionConfigFile]: yamlText(config) }),
    { ...deps, authorityKey: authorityKeyOf(deps) },
    signal,
  )

function rewrite(config: JsonObject, { client, onProgress }: RotateDeps, signal: AbortSignal): Promise<Rewritten> {
  onProgress('encrypting objects with the new key')
  return rewriteObjects(client, encryptedResources(config), context(signal))
}

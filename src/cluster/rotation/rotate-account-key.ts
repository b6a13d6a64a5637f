// The rotation of the key that signs ServiceAccount tokens. All servers accept tokens of the new key before any signs with it, and those
// of the old key until it is retired.
import { context, type Context } from '../../base/observability/context.ts'
import { secret } from '../../api/core/v1/secret.ts'
import { accountTokenType, tokenOf } from '../../api/core/v1/account-token-secret.ts'
import { AccountKeys, type AccountKeySet } from '../../apiserver/authentication/account-keys.ts'
import { parseToken } from '../../apiserver/authentication/json-web-token.ts'
import type { Client } from '../../client/client.ts'
import { listAllPages } from '../../client/informer/paged-list.ts'
import type { CryptoProvider, KeyPair, PublicKey } from '../../platform/crypto/crypto.ts'
import { accountKeysIn, accountKeyText } from '../certificates/account-key-file.ts'
import { distributeFiles } from './distribute-files.ts'
import { authorityKeyOf, currentFiles, requireFile, type RotateDeps } from './rotate-deps.ts'
import type { FileContents } from './shared-files.ts'

export const accountKeyFile = 'sa.key'
const acceptedKeysMax = 4
const namesShown = 5

export async function rotateAccountKey(deps: RotateDeps, signal: AbortSignal): Promise<void> {
  const { crypto, onProgress } = deps
  const next = crypto.generateKey()
  const publicOf = ({ publicKey }: KeyPair) => crypto.loadPublicKey(publicKey)
  onProgress('waiting until all servers accept tokens of the new key')
  await change(({ signing, accepted }) => ({ signing, accepted: [...accepted, publicOf(next)] }), deps, signal)
  onProgress('waiting until all servers sign with the new key')
  const isOther = ({ publicKey }: PublicKey) => !crypto.timingSafeEqual(publicKey, next.publicKey)
  const sign = ({ signing, accepted }: AccountKeySet) => ({
    signing: next,
    accepted: [...accepted.filter(isOther), publicOf(signing)],
  })
  await change(sign, deps, signal)
}

/** Tokens of earlier keys are no longer accepted. Throws if a Secret has one, unless `force` is set. */
export async function retireAccountKeys(
  { force, ...deps }: RotateDeps & { readonly force: boolean },
  signal: AbortSignal,
): Promise<number> {
  const { client, crypto, onProgress } = deps
  const { files } = await currentFiles(deps, signal)
  const keys = accountKeysOf(files, deps)
  if (keys.accepted.length === 0) return 0
  const inUse = force ? [] : await secretsOfOthers(client, keys, crypto, context(signal))
  if (inUse.length > 0) throw new Error(inUseText(inUse))
  onProgress('waiting until no server accepts tokens of earlier keys')
  await change(({ signing }) => ({ signing, accepted: [] }), deps, signal)
  return keys.accepted.length
}

const accountKeysOf = (files: FileContents, { crypto, initial }: Pick<RotateDeps, 'crypto' | 'initial'>) =>
  accountKeysIn(requireFile({ ...initial, ...files }, accountKeyFile), crypto)

function change(next: (keys: AccountKeySet) => AccountKeySet, deps: RotateDeps, signal: AbortSignal): Promise<void> {
  const changed = (files: FileContents) => {
    const keys = next(accountKeysOf(files, deps))
    if (keys.accepted.length > acceptedKeysMax)
      throw new Error(
        `tokens of ${acceptedKeysMax} earlier keys are accepted; retire them first: coxswain rotate service-account-key --retire`,
      )
    return { [accountKeyFile]: accountKeyText(keys) }
  }
  return distributeFiles(changed, { ...deps, authorityKey: authorityKeyOf(deps) }, signal)
}

/** The Secrets whose token was signed with another key than the present one. */
async function secretsOfOthers(
  client: Client,
  keys: AccountKeySet,
  crypto: CryptoProvider,
  ctx: Context,
): Promise<readonly string[]> {
  const { signingId } = new AccountKeys(keys, crypto)
  const only = { fieldSelector: `type=${accountTokenType}` }
  const { items } = await listAllPages(client.of(secret), only, ctx)
  return items
    .filter((each) => {
      const token = parseToken(tokenOf(each))
      return token !== undefined && token.keyId !== signingId
    })
    .map(({ metadata: { namespace = '', name } }) => `${namespace}/${name}`)
}

function inUseText(names: readonly string[]): string {
  const more = names.length > namesShown ? ` and ${names.length - namesShown} more` : ''
  const [first = ''] = names
  const [namespace, name] = first.split('/')
  return (
    `these Secrets have tokens of an earlier key: ${names.slice(0, namesShown).join(', ')}${more}. ` +
    `A new token is made when the old one is removed: kubectl -n ${namespace} patch secret ${name} --type=json -p '[{"op":"remove","path":"/data/token"}]'. ` +
    'With --force they become invalid'
  )
}

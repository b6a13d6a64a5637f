// Bootstrap signer: signs the ConfigMap cluster-info with every bootstrap token, so that a joining node can verify it
// with its token.
import { leastOf } from '../../base/collections/extremes.ts'
import { configMap, type ConfigMap } from '../../api/core/v1/config-map.ts'
import { secret, type Secret } from '../../api/core/v1/secret.ts'
import type { CryptoProvider } from '../../platform/crypto/crypto.ts'
import { equalValues } from '../../schema/json/json-value.ts'
import { defineController, type ObjectIndex } from '../runtime/controller.ts'
import {
  bootstrapTokens,
  expiryMsOf,
  isBootstrapToken,
  signingToken,
  tokenNamespace,
  type SigningToken,
} from './bootstrap-token.ts'

const infoKey = 'kube-public/cluster-info'
/** Of the keys of signatures; the id of the token follows. */
export const signaturePrefix = 'jws-kubeconfig-'

export const bootstrapSignerController = defineController({
  name: 'bootstrap-signer',
  account: 'bootstrap-signer',
  watches: [configMap, secret],
  indexes: [bootstrapTokens as unknown as ObjectIndex],
  enqueues(kind, { key, now, before }) {
    if (kind.kind === configMap.kind) return key === infoKey && now !== undefined ? [infoKey] : []
    return isBootstrapToken((now ?? before) as Secret) ? [infoKey] : []
  },
  async reconcile(_, { client, cached, byIndex, nowMs, settings }, context) {
    const info = cached(configMap, infoKey)
    const { crypto } = settings
    if (info === undefined || crypto === undefined) return undefined
    const secrets = byIndex(bootstrapTokens, tokenNamespace)
    const tokens = secrets.map((object) => signingToken(object, nowMs)).filter((token) => token !== undefined)
    const data = signedData(info, tokens, crypto)
    if (!equalValues(data, info.data ?? {})) await client.of(configMap).update({ ...info, data }, context)
    // The signature of a token is removed when the token expires.
    const nextEndMs = leastOf(secrets.map(expiryMsOf).filter((endMs) => endMs > nowMs))
    return nextEndMs === Infinity ? undefined : nextEndMs - nowMs
  },
})

/** The desired data of the ConfigMap: its content and one signature for each token. */
export function signedData(
  { data = {} }: ConfigMap,
  tokens: readonly SigningToken[],
  crypto: Pick<CryptoProvider, 'hmacSha256'>,
): Readonly<Record<string, string>> {
  const content = Object.entries(data).filter(([name]) => !name.startsWith(signaturePrefix))
  const kubeconfig = data['kubeconfig'] ?? ''
  const signatures =
    kubeconfig === ''
      ? []
      : tokens.map((token) => [`${signaturePrefix}${token.id}`, signature(kubeconfig, token, crypto)])
  return Object.fromEntries([...content, ...signatures])
}

const base64url = (bytes: Uint8Array): string => bytes.toBase64({ alphabet: 'base64url', omitPadding: true })
const utf8 = new TextEncoder()

/** A JSON Web Signature with detached content (RFC 7515, appendix F). */
function signature(
  content: string,
  { id, secret: key }: SigningToken,
  crypto: Pick<CryptoProvider, 'hmacSha256'>,
): string {
  const header = base64url(utf8.encode(JSON.stringify({ alg: 'HS256', kid: id })))
  const signed = crypto.hmacSha256(utf8.encode(key), `${header}.${base64url(utf8.encode(content))}`)
  return `${header}..${base64url(signed)}`
}

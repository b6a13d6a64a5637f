// extension-apiserver-authentication: the ConfigMap from which extension servers, and components that serve on a port, learn
// the client authorities and the headers of the front proxy. The names are upstream's.
import type { Context } from '../../base/observability/context.ts'
import { configMap } from '../../api/core/v1/config-map.ts'
import type { FrontProxyRules } from '../../apiserver/authentication/front-proxy.ts'
import type { Client } from '../../client/client.ts'
import { createOrPatch } from './bootstrap-objects.ts'

export interface ClientAuthorities {
  /** The authority of client certificates, PEM. */
  readonly authority: string
  /** The authority of front proxies, PEM. */
  readonly proxyAuthority: string
}

const metadata = { name: 'extension-apiserver-authentication', namespace: 'kube-system' }

export const publishExtensionAuthentication = (
  client: Client,
  authorities: ClientAuthorities,
  rules: FrontProxyRules,
  context: Context,
): Promise<void> => createOrPatch(client, configMap, { metadata, data: dataOf(authorities, rules) }, context)

/** Lists are JSON. */
export function dataOf(
  { authority, proxyAuthority }: ClientAuthorities,
  rules: FrontProxyRules,
): Record<string, string> {
  const { allowedNames, userHeaders, uidHeaders, groupHeaders, extraPrefixes } = rules
  const shown = (names: readonly string[]) => JSON.stringify(names.map(canonical))
  return {
    'client-ca-file': authority,
    'requestheader-allowed-names': JSON.stringify(allowedNames),
    'requestheader-client-ca-file': proxyAuthority,
    'requestheader-extra-headers-prefix': shown(extraPrefixes),
    'requestheader-group-headers': shown(groupHeaders),
    'requestheader-uid-headers': shown(uidHeaders),
    'requestheader-username-headers': shown(userHeaders),
  }
}

/** `X-Remote-User` */
const canonical = (header: string): string =>
  header
    .split('-')
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('-')

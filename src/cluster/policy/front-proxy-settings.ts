// FrontProxySettings: which clients may name the user of a request in headers, from the flags --requestheader-*.
import { frontProxyDefaults, type FrontProxyRules } from '../../apiserver/authentication/front-proxy.ts'
import { pemBlocks } from '../../pki/pem.ts'
import type { Files } from '../../platform/files.ts'
import type { PolicyFlag, PolicyFlagValues } from '../flags/policy-flags.ts'
import { readText } from '../flags/webhook-connection.ts'

export interface FrontProxySettings {
  /** The authority of front proxies, PEM; undefined: the one that the cluster has created. */
  readonly authority: string | undefined
  readonly rules: FrontProxyRules
}

export const frontProxySettingsDefault: FrontProxySettings = { authority: undefined, rules: frontProxyDefaults }

export async function readFrontProxySettings(flags: PolicyFlagValues, files: Files): Promise<FrontProxySettings> {
  const { 'requestheader-client-ca-file': path } = flags
  const authority = path === undefined ? undefined : await readText(path, files)
  if (authority !== undefined && !authority.includes('-----BEGIN CERTIFICATE-----'))
    throw new Error(`--requestheader-client-ca-file ${path} holds no certificate in PEM`)
  const headers = (name: PolicyFlag, defaults: readonly string[]) =>
    listOf(flags, name)?.map((header) => header.toLowerCase()) ?? defaults
  const { userHeaders, uidHeaders, groupHeaders, extraPrefixes } = frontProxyDefaults
  return {
    authority,
    rules: {
      // As in upstream, every certificate of a named authority is allowed unless names are given.
      allowedNames:
        listOf(flags, 'requestheader-allowed-names') ??
        (authority === undefined ? frontProxyDefaults.allowedNames : []),
      userHeaders: headers('requestheader-username-headers', userHeaders),
      uidHeaders: headers('requestheader-uid-headers', uidHeaders),
      groupHeaders: headers('requestheader-group-headers', groupHeaders),
      extraPrefixes: headers('requestheader-extra-headers-prefix', extraPrefixes),
    },
  }
}

/** With the CA of client certificates and without names of proxies, every user could name another. */
export function requireProxyNames({ authority, rules }: FrontProxySettings, clientAuthority: string): void {
  const isShared = pemBlocks(clientAuthority, 'CERTIFICATE').some((pem) => authority?.includes(pem) === true)
  if (isShared && rules.allowedNames.length === 0)
    throw new Error(
      '--requestheader-client-ca-file contains the CA of client certificates; name the proxies with --requestheader-allowed-names',
    )
}

/** An empty text is an empty list. */
function listOf(flags: PolicyFlagValues, name: PolicyFlag): readonly string[] | undefined {
  const { [name]: text } = flags
  if (text === undefined || text === '') return text === undefined ? undefined : []
  const items = text.split(',').map((item) => item.trim())
  if (items.includes('')) throw new Error(`--${name} ${JSON.stringify(text)} has an empty item`)
  return items
}

// Front proxies (request header authentication): a client with a certificate of the front proxy CA sets the user in headers.
import { lookup, setOwn } from '../../base/collections/lookup.ts'
import { authenticated, rejected, unknown, type Authenticator } from './authenticator.ts'

export interface FrontProxyRules {
  /** Allowed common names; empty: every certificate of the CA. */
  readonly allowedNames: readonly string[]
  /** Header names in lower case; the first header that is present is used. */
  readonly userHeaders: readonly string[]
  readonly uidHeaders: readonly string[]
  readonly groupHeaders: readonly string[]
  readonly extraPrefixes: readonly string[]
}

export const frontProxyDefaults: FrontProxyRules = {
  allowedNames: ['front-proxy-client'],
  userHeaders: ['x-remote-user'],
  uidHeaders: ['x-remote-uid'],
  groupHeaders: ['x-remote-group'],
  extraPrefixes: ['x-remote-extra-'],
}

export const frontProxy = (rules: FrontProxyRules, audiences: readonly string[]): Authenticator => ({
  name: 'frontProxy',
  authenticate({ certificate, headers, headerValues }) {
    if (certificate?.trustedFor.includes('proxies') !== true) return unknown
    const { allowedNames, userHeaders, uidHeaders, groupHeaders, extraPrefixes } = rules
    if (allowedNames.length > 0 && !allowedNames.includes(certificate.commonName)) {
      // One authority may sign the certificates of users, too.
      if (certificate.trustedFor.includes('users')) return unknown
      return rejected(`the proxy ${JSON.stringify(certificate.commonName)} is not allowed`)
    }
    const firstOf = (names: readonly string[]) =>
      names.map((name) => lookup(headers, name) ?? '').find((value) => value !== '')
    const name = firstOf(userHeaders)
    if (name === undefined) return unknown
    const extra: Record<string, readonly string[]> = {}
    for (const prefix of extraPrefixes)
      for (const header of Object.keys(headers))
        if (header.startsWith(prefix)) setOwn(extra, decoded(header.slice(prefix.length)), headerValues(header))
    const groups = groupHeaders.flatMap((header) => headerValues(header))
    return authenticated({ name, uid: firstOf(uidHeaders) ?? '', groups, extra }, audiences)
  },
})

function decoded(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}

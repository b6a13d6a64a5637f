// Front proxies: whoever shows a certificate of their authority says in headers whom it speaks for.
import { lookup, setOwn } from '../../base/collections/lookup.ts'
import { authenticated, rejected, unknown, type Authenticator } from './authenticator.ts'

export interface FrontProxyRules {
  /** Common names of proxies; empty: any that the authority vouches for. */
  readonly allowedNames: readonly string[]
  /** Names of headers in lower case, the first that is sent counts. */
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
    if (certificate?.authority !== 'proxies') return unknown
    const { allowedNames, userHeaders, uidHeaders, groupHeaders, extraPrefixes } = rules
    if (allowedNames.length > 0 && !allowedNames.includes(certificate.commonName))
      return rejected(`the proxy ${JSON.stringify(certificate.commonName)} is not allowed`)
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

import { deepEqual, rejects, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { frontProxyDefaults } from '../../apiserver/authentication/front-proxy.ts'
import type { Files } from '../../platform/files.ts'
import type { PolicyFlagValues } from '../flags/policy-flags.ts'
import { frontProxySettingsDefault, readFrontProxySettings, requireProxyNames } from './front-proxy-settings.ts'

const pem = '-----BEGIN CERTIFICATE-----\nA\n-----END CERTIFICATE-----\n'
const contents: Readonly<Record<string, string>> = { 'ca.crt': pem, text: 'hello' }
const files = {
  read: (path: string) => Promise.resolve(new TextEncoder().encode(contents[path])), // safe name: a path of this test
} as unknown as Files

const cases: [what: string, flags: PolicyFlagValues, expected: unknown][] = [
  ['no flags', {}, frontProxySettingsDefault],
  [
    'an authority, all of whose certificates are allowed',
    { 'requestheader-client-ca-file': 'ca.crt' },
    { authority: pem, rules: { ...frontProxyDefaults, allowedNames: [] } },
  ],
  [
    'names and headers, which are compared in lower case',
    {
      'requestheader-allowed-names': 'gate, Bridge',
      'requestheader-username-headers': 'X-User,X-Other-User',
      'requestheader-uid-headers': '',
      'requestheader-group-headers': 'X-Group',
      'requestheader-extra-headers-prefix': 'X-More-',
    },
    {
      authority: undefined,
      rules: {
        allowedNames: ['gate', 'Bridge'],
        userHeaders: ['x-user', 'x-other-user'],
        uidHeaders: [],
        groupHeaders: ['x-group'],
        extraPrefixes: ['x-more-'],
      },
    },
  ],
]
for (const [what, flags, expected] of cases)
  test(`front proxies with ${what}`, async () => deepEqual(await readFrontProxySettings(flags, files), expected))

const errors: [flags: PolicyFlagValues, message: RegExp][] = [
  [
    { 'requestheader-client-ca-file': 'text' },
    /^Error: --requestheader-client-ca-file text holds no certificate in PEM$/,
  ],
  [{ 'requestheader-allowed-names': 'a,,b' }, /^Error: --requestheader-allowed-names "a,,b" has an empty item$/],
]
for (const [flags, message] of errors)
  test(`${JSON.stringify(flags)} is rejected`, () => rejects(readFrontProxySettings(flags, files), message))

test('with the authority of client certificates, front proxies have names', () => {
  const other = pem.replace('A', 'B')
  const settings = { ...frontProxySettingsDefault, authority: `${pem}${pem}` }
  const anyName = { ...settings, rules: { ...settings.rules, allowedNames: [] } }
  const message = /name the proxies with --requestheader-allowed-names/
  throws(() => requireProxyNames(anyName, pem), message)
  throws(() => requireProxyNames(anyName, `${other}${pem}`), message)
  requireProxyNames(settings, pem)
  requireProxyNames(anyName, other)
  requireProxyNames(frontProxySettingsDefault, pem)
})

import { deepEqual, throws } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { ingressChoicesOf, type IngressFlagValues } from './ingress-flags.ts'

test('by default Ingresses are served on loopback only, and failed requests are logged', () => {
  const expected = { mode: 'auto', host: '127.0.0.1', httpPort: 80, httpsPort: 443, accessLog: 'errors' }
  deepEqual(ingressChoicesOf({}), expected)
})

test('flags replace the defaults', () => {
  const flags = {
    ingress: 'on',
    'ingress-address': '::',
    'ingress-http-port': '8080',
    'ingress-https-port': '0',
    'ingress-access-log': 'all',
  }
  deepEqual(ingressChoicesOf(flags), { mode: 'on', host: '::', httpPort: 8080, httpsPort: 0, accessLog: 'all' })
})

const invalid: readonly (readonly [string, IngressFlagValues, RegExp])[] = [
  ['an unknown mode', { ingress: 'maybe' }, /--ingress "maybe" is none of auto, on, off/],
  ['a name instead of an address', { 'ingress-address': 'localhost' }, /--ingress-address "localhost" is not an IP/],
  ['a port that is too large', { 'ingress-http-port': '65536' }, /--ingress-http-port "65536" is not a port/],
  ['a port that is no number', { 'ingress-https-port': 'x' }, /--ingress-https-port "x" is not a port/],
  ['an unknown level of the log', { 'ingress-access-log': 'most' }, /--ingress-access-log "most" is none of/],
]

suite('a flag is rejected', () => {
  for (const [name, flags, message] of invalid) test(name, () => throws(() => ingressChoicesOf(flags), message))
})
